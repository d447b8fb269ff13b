/**
 * Whole streams as servers send them, byte for byte, and what becomes of each. The files in test/fixtures have the
 * shape that the providers document; replace one by a recording of the same shape and read the difference in
 * test/golden. Those with llamacpp in their names are recordings of llama-server 0.5.0.
 */

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ModelError, type ModelPart } from "../../src/core/ports.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import { openaiModel } from "../../src/models/openai/openai.ts";
import { responsesModel } from "../../src/models/responses/responses.ts";
import { matchesGolden } from "../support/golden.ts";
import { key, request, serve } from "./fixtures/exchange.ts";

const files = globSync(join(import.meta.dirname, "../fixtures/*.sse")).sort();

/** Returns the parts and then the reply or failure of a stream that arrives in packets of `size` bytes. */
async function heard(file: string, size: number): Promise<string> {
  const bytes = readFileSync(file);
  const server = await serve(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size));
      await new Promise(setImmediate);
    }
    response.end();
  });
  const [wire = ""] = basename(file).split("-");
  const { card } = findCard(wire === "anthropic" ? "anthropic/claude-sonnet-5-5" : "openai/gpt-6.1-sol");
  const options = { card, apiKey: key, baseUrl: server.url };
  const model =
    wire === "anthropic"
      ? anthropicModel(options)
      : wire === "openai"
        ? openaiModel(options)
        : responsesModel(options);
  const parts: ModelPart[] = [];
  const sent = model.send(request, model.encode(request), (part) => parts.push(part), AbortSignal.any([]));
  const ending = await sent.catch((error: unknown) => {
    if (!(error instanceof ModelError)) throw error;
    return { failed: error.kind, message: error.message, partial: error.partial };
  });
  const { durationMs: _, ...told } = ending as Record<string, unknown>;
  return [...parts, told].map((one) => `${JSON.stringify(one)}\n`).join("");
}

test("there are streams of each API", () => {
  expect(files.length).toBeGreaterThan(8);
});

describe("a stream as a server sends it", () => {
  test.each(files.map((file) => [basename(file, ".sse"), file]))(
    "becomes parts and a reply: %s",
    async (name, file) => {
      const whole = await heard(file, 1_000_000);
      matchesGolden(`streams/${name}`, whole);
      // Wherever it is cut into packets, in the middle of a character or of a line end too.
      for (const size of [7, 64]) expect(await heard(file, size)).toBe(whole);
    },
  );
});
