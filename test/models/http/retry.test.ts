/** Retry over the real adapter and a real server that fails first. */

import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ModelError, type ModelPart } from "../../../src/core/ports.ts";
import type { ModelRequest } from "../../../src/core/request.ts";
import { anthropicModel } from "../../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../../src/models/cards.ts";
import { type RetryOptions, withRetry } from "../../../src/models/http/retry.ts";
import {
  type Answer,
  hello,
  refusal,
  reset,
  silence,
  start,
  startWireServer,
  stream,
  text,
} from "../fixtures/wire-server.ts";

const { card } = findCard("anthropic/claude-sonnet-5-5");
const request: ModelRequest = {
  model: card.id,
  system: "",
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  cacheAfter: [],
  maxTokens: 10,
  thinking: "none",
};
const overloaded = refusal(529, "overloaded_error", "Overloaded");

/** One request to a server that gives these answers in turn; waits are noted, not waited for. */
async function run(answers: Answer[], options: Partial<RetryOptions> = {}, signal?: AbortSignal) {
  const server = await startWireServer(...answers);
  const waits: number[] = [];
  const parts: ModelPart[] = [];
  const plain = anthropicModel({ card, apiKey: "key", baseUrl: server.url, idleMs: 1000 });
  const model = withRetry(plain, {
    sleep: async (ms) => void waits.push(ms),
    random: () => 1,
    ...options,
  });
  const sent = model.send(
    request,
    model.encode(request),
    (part) => parts.push(part),
    signal ?? new AbortController().signal,
  );
  const outcome = await sent.then(
    (reply) => ({ reply, error: undefined }),
    (error: unknown) => ({ reply: undefined, error: error as ModelError }),
  );
  await server.close();
  const failed = parts.filter((part) => part.type === "attempt_failed");
  return { ...outcome, waits, parts, failed, bodies: server.received.map(({ body }) => body.toString()) };
}

describe("a passing failure", () => {
  test("overloaded three times, then fine: the waits double and the bytes are the same", async () => {
    const { reply, waits, failed, bodies } = await run([
      overloaded,
      overloaded,
      overloaded,
      stream(...hello),
    ]);
    expect(reply?.content).toEqual([{ type: "text", text: "Hello" }]);
    expect(waits).toEqual([1000, 2000, 4000]);
    expect(new Set(bodies).size).toBe(1);
    expect(bodies).toHaveLength(4);
    expect(failed[2]).toEqual({
      type: "attempt_failed",
      kind: "overloaded",
      message: "Overloaded",
      attempt: 3,
      waitMs: 4000,
    });
  });

  test.each([
    ["a rate limit", refusal(429, "rate_limit_error", "slow down"), "rate_limit"],
    ["a server error", refusal(500, "api_error", "oops"), "server"],
    ["a reset before the first word", reset(), "network"],
    ["a reset after some words", reset(start, ...text(0, "Hel")), "network"],
    ["a silent stream", silence(start, ...text(0, "Hel").slice(0, 2)), "idle"],
    ["a stream without an end", stream(...hello.slice(0, -1)), "incomplete"],
    [
      "an overload inside the stream",
      stream(start, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      "overloaded",
    ],
  ])("%s is tried again", async (_title, answer, kind) => {
    const { reply, failed } = await run([answer, stream(...hello)]);
    expect(reply?.content).toEqual([{ type: "text", text: "Hello" }]);
    expect(failed).toMatchObject([{ kind, attempt: 1 }]);
  });

  test("text of a failed attempt is followed by the word that it is void", async () => {
    const { parts } = await run([reset(start, ...text(0, "Hel")), stream(...hello)]);
    expect(parts.map((part) => part.type)).toEqual([
      "text_delta",
      "attempt_failed",
      "text_delta",
      "text_delta",
    ]);
  });

  test("the server's own waiting time is honoured", async () => {
    const limited = refusal(429, "rate_limit_error", "slow down", { "retry-after": "7" });
    const { waits } = await run([limited, stream(...hello)]);
    expect(waits).toEqual([7000]);
  });

  test("a wait of more than ten minutes is not begun, and the message says why", async () => {
    const limited = refusal(429, "rate_limit_error", "slow down", { "retry-after": "3600" });
    const { error, bodies, waits } = await run([limited]);
    expect(error).toMatchObject({
      kind: "rate_limit",
      message: "slow down (the server asks to wait 60 minutes)",
    });
    expect([bodies.length, waits.length]).toEqual([1, 0]);
  });

  test("after five retries the last failure is thrown", async () => {
    const { error, waits, bodies } = await run([overloaded], { random: () => 0 });
    expect(error).toMatchObject({ kind: "overloaded", message: "Overloaded" });
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(bodies).toHaveLength(6);
  });

  test("backoff never exceeds 32 seconds", async () => {
    const { waits } = await run([overloaded], { maxAttempts: 9 });
    expect(waits.at(-1)).toBe(32_000);
  });
});

test.each([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
])("%d is thrown at once, in the server's own words", async (status, type) => {
  const { error, bodies, parts } = await run([refusal(status, type, "not like this")]);
  expect(error).toMatchObject({ status, message: "not like this" });
  expect([bodies.length, parts.length]).toEqual([1, 0]);
});

describe("an interruption", () => {
  test.each([
    [
      "resolves",
      async (_ms: number, signal: AbortSignal) => void (await delay(5e4, 0, { signal }).catch(() => 0)),
    ],
    ["rejects", async (_ms: number, signal: AbortSignal) => void (await delay(5e4, 0, { signal }))],
  ])("ends a wait that %s", async (_title, sleep) => {
    const abort = new AbortController();
    const interrupted = (ms: number, signal: AbortSignal) => {
      setTimeout(() => abort.abort());
      return sleep(ms, signal);
    };
    const { error, bodies } = await run([overloaded], { sleep: interrupted }, abort.signal);
    expect(error).toBeInstanceOf(ModelError);
    expect(error?.kind).toBe("aborted");
    expect(bodies).toHaveLength(1);
  });

  test("of the request itself is not tried again", async () => {
    const abort = new AbortController();
    const received: Answer = (response) => {
      silence(start)(response);
      abort.abort();
    };
    const { error, bodies } = await run([received], {}, abort.signal);
    expect(error?.kind).toBe("aborted");
    expect(bodies).toHaveLength(1);
  });
});

test("a bug in a listener is not taken for a failure of the model", async () => {
  const server = await startWireServer(stream(...hello));
  const model = withRetry(anthropicModel({ card, apiKey: "key", baseUrl: server.url }), {
    sleep: async () => {},
    random: () => 1,
  });
  const bug = () => {
    throw new TypeError("a bug");
  };
  const reply = model.send(request, model.encode(request), bug, new AbortController().signal);
  await expect(reply).rejects.toThrow(new TypeError("a bug"));
  expect(server.received).toHaveLength(1);
  await server.close();
});
