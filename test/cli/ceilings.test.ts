/** Limits that fail closed, the bill, and a reader that is slow: through the whole program. */

import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { Turns } from "../../src/models/playback/script.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth, start } from "../support/sawtooth.ts";
import { bash, serve, tempWorkspace } from "../support/served.ts";
import { sized } from "../support/size.ts";

/** The result, which is there once, and last. */
function resultOf(stdout: string): Record<string, unknown> {
  const lines = jsonLines(stdout);
  expect(lines.filter((line) => line.type === "result")).toEqual(lines.slice(-1));
  return lines.at(-1) ?? {};
}

const prompt = ["-p", "go", "--output-format", "stream-json"];
const auto = [...prompt, "--permission-mode", "auto"];

/** Per call: 10 input at $2, 20,000 written at $2.50, 50,000 read at $0.10, 500 output at $10, per million. */
const usage = { input: 10, cache_write: 20_000, cache_read: 50_000, output: 500 };
const perCall = (10 * 2 + 20_000 * 2.5 + 50_000 * 0.1 + 500 * 10) / 1e6;

describe("ceilings", () => {
  const golden = [...auto, "--model", "anthropic/claude-sonnet-5-5"];
  const billed: Turns<WireBody> = () => ({ calls: [bash("echo $RANDOM")], usage });

  test("cost is that of the golden table, and the call that would pass the limit is not made", async () => {
    const { workspace, server } = await serve(billed);
    const result = resultOf((await sawtooth(workspace, [...golden, "--max-budget-usd", "0.10"])).stdout);
    expect(result).toMatchObject({ subtype: "error_max_budget", num_turns: 1 });
    expect(result.total_cost_usd).toBeCloseTo(perCall, 9);
    expect(result.usage).toEqual({
      input_tokens: 10,
      cache_read_input_tokens: 50_000,
      cache_creation_input_tokens: 20_000,
      output_tokens: 500,
    });
    expect(server.requests).toHaveLength(1);
  });

  test("they count over the whole session, resumed or not", async () => {
    const { workspace, server } = await serve(billed);
    for (const expected of [5, 5]) {
      const more = server.requests.length > 0 ? ["-c"] : [];
      const { code, stdout } = await sawtooth(workspace, [...golden, ...more, "--max-turns", "5"]);
      expect({ code, turns: resultOf(stdout).num_turns }).toEqual({ code: 3, turns: expected });
    }
    const { stdout } = await sawtooth(workspace, [
      ...golden,
      "-c",
      "--max-budget-usd",
      String(perCall * 7.5),
    ]);
    expect(resultOf(stdout)).toMatchObject({ subtype: "error_max_budget", num_turns: 7 });
    expect(server.requests).toHaveLength(7);
  });

  test.each([
    [31, 0],
    [34, 1],
  ])(
    "of %i calls %i is for a summary: it counts, and none is made at the limit",
    async (limit, summaries) => {
      const { workspace, server } = await serve((request) =>
        JSON.stringify(request.messages.at(-1)).includes("write a handoff")
          ? { text: "Facts: numbers were printed." }
          : { calls: [bash("seq $RANDOM $RANDOM | head -c 3000; echo $RANDOM")] },
      );
      const words = [...auto, "--context", "summary", "--max-turns", String(limit)];
      const { code, stdout } = await sawtooth(workspace, words);
      const result = resultOf(stdout);
      expect({ code, turns: result.num_turns, requests: server.requests.length }).toEqual({
        code: 3,
        turns: limit,
        requests: limit,
      });
      expect((result.context as { edits: number }).edits).toBe(summaries);
    },
  );
});

const rounds = sized(2, 4);

describe(`${3 * rounds} runs into a slow reader`, () => {
  let text = "";
  beforeAll(() => {
    const line = (_: unknown, index: number) => hash("sha512", String(index), "base64url");
    text = Array.from({ length: 24_000 }, line).join("\n");
  });

  test("each gives one complete result of two megabytes, as its last line", async () => {
    const workspace = tempWorkspace();
    writeFileSync(join(workspace.cwd, "long.json"), JSON.stringify({ turns: [{ text }] }));
    const words = [...prompt, "--model", "scripted/long.json"];
    const one = async (): Promise<void> => {
      const run = start(workspace, words);
      run.child.stdout?.pause();
      await delay(300);
      run.child.stdout?.resume();
      const { code, stdout } = await run.ended;
      expect(code).toBe(0);
      expect(resultOf(stdout).result).toBe(text.trim());
    };
    for (let round = 0; round < rounds; round++) await Promise.all([one(), one(), one()]);
  });
});
