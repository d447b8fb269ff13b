/** Refusals of the server, told apart by kind and in its own words. */

import { describe, expect, test } from "vitest";
import type { ModelError } from "../../../src/core/ports.ts";
import { anthropicModel } from "../../../src/models/anthropic/anthropic.ts";
import { card, failure, key, request, serve } from "../fixtures/exchange.ts";
import { type Answer, refusal, start, text, write } from "../fixtures/wire-server.ts";

/** The error that a server which answers so leads to. */
async function failureOf(answer: Answer, options: object = { apiKey: key }): Promise<ModelError> {
  const server = await serve(answer);
  const model = anthropicModel({ card, baseUrl: server.url, ...options });
  return failure(model.send(request, model.encode(request), () => {}, new AbortController().signal));
}

const tooLong = "prompt is too long: 1000123 tokens > 1000000 maximum";
const unbound =
  'messages.3.content.0: Invalid "signature" in "thinking" block. The block is bound to a different conversation.';

describe("an answer of", () => {
  test.each([
    [400, "invalid_request_error", "max_tokens: must be at least 1", "bad_request"],
    [400, "invalid_request_error", tooLong, "context_full"],
    // llama.cpp
    [400, "exceed_context_size_error", "request (1507 tokens) exceeds the available context", "context_full"],
    [400, "invalid_request_error", unbound, "bound_thinking"],
    [401, "authentication_error", "invalid x-api-key", "credentials"],
    [402, "billing_error", "your credit balance is too low", "credentials"],
    [403, "permission_error", "no access to this model", "credentials"],
    [404, "not_found_error", "model: claude-nope", "not_found"],
    [408, "timeout_error", "took too long", "server"],
    [409, "conflict_error", "try again", "server"],
    [413, "request_too_large", "request exceeds the maximum size", "too_large"],
    [422, "invalid_request_error", "unprocessable", "bad_request"],
    [429, "rate_limit_error", "slow down", "rate_limit"],
    [500, "api_error", "internal server error", "server"],
    [503, "api_error", "unavailable", "server"],
    [529, "overloaded_error", "Overloaded", "overloaded"],
  ])("%d %s (%s) is %s, in the server's own words", async (status, type, message, kind) => {
    expect(await failureOf(refusal(status, type, message))).toMatchObject({ kind, message, status });
  });

  test("something that is not JSON is told as it is", async () => {
    const error = await failureOf((response) => response.writeHead(502).end("Bad Gateway"));
    expect(error).toMatchObject({ kind: "server", status: 502 });
    expect(error.message).toContain("Bad Gateway");
  });

  test("an error that llama.cpp sends alone into its stream is told in its words", async () => {
    const error = {
      code: 500,
      message: "the output does not match the expected format",
      type: "server_error",
    };
    const answer: Answer = (response) => {
      write(response, [start, ...text(0, "Hel")]);
      response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
    };
    expect(await failureOf(answer)).toMatchObject({ kind: "server", message: error.message });
  });

  test("no key is needed where the server asks for none", async () => {
    const error = await failureOf(refusal(400, "invalid_request_error", "told"), { keyless: true });
    expect(error).toMatchObject({ kind: "bad_request", message: "told" });
  });

  test("a spent limit is not worth waiting for", async () => {
    const error = {
      type: "rate_limit_error",
      message: "the spend limit is reached",
      details: { error_code: "enforced_spend_limit_reached" },
    };
    const answer: Answer = (response) =>
      response
        .writeHead(429, { "content-type": "application/json" })
        .end(JSON.stringify({ type: "error", error }));
    expect((await failureOf(answer)).kind).toBe("credentials");
  });
});

test.each([
  ["overloaded_error", "overloaded", 529],
  ["rate_limit_error", "rate_limit", 429],
  ["api_error", "server", 500],
  ["something_new", "server", 500],
  ["invalid_request_error", "bad_request", 400],
])("%s in the middle of a stream is %s", async (type, kind, status) => {
  const error = await failureOf((response) => {
    const event = { type: "error", error: { type, message: "enough" } };
    write(response, [start, ...text(0, "Hel"), event]);
    response.end();
  });
  expect(error).toMatchObject({ kind, status, message: "enough" });
});

describe("the time to wait is read", () => {
  test.each([
    ["from seconds", { "retry-after": "7" }, 7000],
    ["from milliseconds first", { "retry-after": "7", "retry-after-ms": "1500" }, 1500],
    ["and is nothing when it makes no sense", { "retry-after": "soon" }, undefined],
  ])("%s", async (_title, headers, ms) => {
    const error = await failureOf(refusal(429, "rate_limit_error", "slow down", headers));
    expect(error.retryAfterMs).toBe(ms);
  });

  test("from a date", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const error = await failureOf(refusal(503, "api_error", "later", { "retry-after": date }));
    expect(error.retryAfterMs).toBeGreaterThan(3_000_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(3_600_000);
  });
});

describe("credentials", () => {
  test("a key that the server echoes is blotted out", async () => {
    const error = await failureOf(refusal(401, "authentication_error", `no such key: ${key}`));
    expect(error.message).toBe("no such key: [key]");
  });

  test("a key that cannot stand in a header is refused without being quoted", async () => {
    const error = await failureOf(() => {}, { apiKey: `${key}\nx` });
    expect(error.kind).toBe("credentials");
    expect(error.message).not.toContain(key);
  });

  test("no key at all is told before anything is sent", async () => {
    const error = await failureOf(() => {}, {});
    expect(error).toMatchObject({
      kind: "credentials",
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });

  test("an address that is none is told", async () => {
    const error = await failureOf(() => {}, { apiKey: key, baseUrl: "localhost without scheme" });
    expect(error).toMatchObject({ kind: "bad_request" });
  });
});
