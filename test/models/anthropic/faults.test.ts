/** Streams that break, fall silent or are interrupted. */

import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { anthropicModel } from "../../../src/models/anthropic/anthropic.ts";
import { freePort } from "../../support/free-port.ts";
import { card, exchange, failure, key, request, serve } from "../fixtures/exchange.ts";
import {
  block,
  call,
  ended,
  hello,
  reset,
  signed,
  silence,
  start,
  stop,
  stream,
  text,
  thinking,
  write,
} from "../fixtures/wire-server.ts";

describe("what is not whole", () => {
  test.each([
    ["a stream without message_stop", [start, ...text(0, "Hel"), ended("end_turn")]],
    ["a stream that ends in a block", [start, ...call(0, "toolu_1", '{"a":1}')]],
    ["a block without its end", [start, ...call(0, "toolu_1", "{}").slice(0, -1), ended("tool_use"), stop]],
    ["an empty stream", []],
    ["a call with broken JSON", [start, ...call(0, "toolu_1", '{"a":'), ended("tool_use"), stop]],
    ["a delta of a block that never began", [start, ...text(0, "a").slice(1), ended("end_turn"), stop]],
  ])("%s is incomplete", async (_title, events) => {
    const { reply } = await exchange(stream(...events));
    expect((await failure(reply)).kind).toBe("incomplete");
  });

  test("data that is not JSON is incomplete", async () => {
    const { reply } = await exchange((response) => {
      write(response, [start]);
      response.end("event: content_block_start\ndata: {nonsense\n\n");
    });
    expect((await failure(reply)).kind).toBe("incomplete");
  });

  test.each([
    ["before the first byte", reset()],
    ["after the first words", reset(start, ...text(0, "Hel"))],
  ])("a connection that breaks %s is a network failure", async (_title, answer) => {
    const { reply } = await exchange(answer);
    const error = await failure(reply);
    expect(error.kind).toBe("network");
    expect(error.message).toMatch(/reset|hang up|closed|terminated/i);
  });

  test("a port where nobody listens is a network failure that names it", async () => {
    const port = await freePort();
    const model = anthropicModel({ card, apiKey: key, baseUrl: `http://127.0.0.1:${port}` });
    const reply = model.send(request, model.encode(request), () => {}, new AbortController().signal);
    expect(await failure(reply)).toMatchObject({
      kind: "network",
      message: `connect ECONNREFUSED 127.0.0.1:${port}`,
    });
  });

  test("a whole reply counts even when the server never ends its response", async () => {
    const { reply, server } = await exchange(silence(...hello));
    expect((await reply).content).toEqual([{ type: "text", text: "Hello" }]);
    await server.received[0]?.closed;
  });
});

describe("a stream that falls silent", () => {
  test.each([
    ["before the first event", []],
    ["after some words", [start, ...text(0, "Hel").slice(0, 2)]],
    ["in the middle of a call", [start, ...call(0, "toolu_1", '{"comm').slice(0, 2)]],
  ])("%s is given up in spite of pings, and its socket closed", async (_title, events) => {
    const { reply, server } = await exchange(silence(...events), { idleMs: 300 });
    expect(await failure(reply)).toMatchObject({ kind: "idle", message: "no data for 0.3 s" });
    await server.received[0]?.closed;
  });

  test("what came while our own process stood still is no silence", async () => {
    let answer: ServerResponse | undefined;
    const { reply, hear } = await exchange(
      (response) => {
        answer = response;
        write(response, [start, ...text(0, "Hel", "lo").slice(0, 2)]);
      },
      { idleMs: 300 },
    );
    hear.push(() => {
      if (!answer) return;
      write(answer, [...text(0, "Hel", "lo").slice(2), ended("end_turn"), stop]);
      answer.end();
      answer = undefined;
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600));
    });
    expect((await reply).content).toEqual([{ type: "text", text: "Hello" }]);
  });

  test("events that keep coming keep it alive", async () => {
    const { reply } = await exchange(
      async (response) => {
        for (const event of [start, ...text(0, "a", "b", "c", "d", "e"), ended("end_turn"), stop]) {
          write(response, [event]);
          await new Promise((resolve) => setTimeout(resolve, 400));
        }
        response.end();
      },
      { idleMs: 3000 },
    );
    expect((await reply).content).toEqual([{ type: "text", text: "abcde" }]);
  });
});

describe("an interrupted reply", () => {
  test("keeps whole signed thinking and begun text, and drops calls and begun thinking", async () => {
    const events = [
      start,
      ...block(0, thinking, signed),
      ...text(1, "I will"),
      ...call(2, "toolu_1", "{}"),
      ...text(3, "and th").slice(0, 2),
      ...block(4, thinking, signed.toReversed(), true),
    ];
    const { reply, abort, hear, server } = await exchange(silence(...events));
    let thoughts = 0;
    hear.push((part) => {
      if (part.type !== "thinking_delta" || ++thoughts < 2) return;
      abort.abort();
    });
    expect(await failure(reply)).toMatchObject({
      kind: "aborted",
      partial: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "text", text: "I will" },
        { type: "text", text: "and th" },
      ],
    });
    await server.received[0]?.closed;
  });

  test("can be interrupted before the server says anything", async () => {
    const { reply, abort, server } = await exchange(() => {});
    await expect.poll(() => server.received.length).toBe(1);
    abort.abort();
    expect(await failure(reply)).toMatchObject({ kind: "aborted", partial: [] });
    await server.received[0]?.closed;
  });

  test("is never sent when the signal came first", async () => {
    const server = await serve(stream(...hello));
    const model = anthropicModel({ card, apiKey: key, baseUrl: server.url });
    const reply = model.send(request, model.encode(request), () => {}, AbortSignal.abort());
    expect((await failure(reply)).kind).toBe("aborted");
    expect(server.received).toEqual([]);
  });
});
