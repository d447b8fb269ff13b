/** Requests over connections that are kept, and closed by the server in the meantime. */

import { expect, onTestFinished, test } from "vitest";
import { post, textOf } from "../../../src/models/http/post.ts";
import { type Answer, closed, startWireServer } from "../fixtures/wire-server.ts";

const said =
  (text: string): Answer =>
  (response) =>
    response.end(text);

/** Sends bodies one after the other; the answers' texts, or the code of the error. */
async function sent(answers: Answer[], bodies: string[]) {
  const server = await startWireServer(...answers);
  onTestFinished(server.close);
  const heard: string[] = [];
  for (const body of bodies) {
    const { signal } = new AbortController();
    const answer = post(new URL(server.url), { headers: {}, body, signal });
    heard.push(await answer.then(textOf).catch(({ code }) => code));
  }
  const { received, connections } = server;
  return { heard, received: received.map(({ body }) => body.toString()), connections: connections() };
}

test("a request on a kept connection that closes without an answer is sent again at once on a new one", async () => {
  expect(await sent([said("1"), closed(), said("2")], ["a", "b"])).toEqual({
    heard: ["1", "2"],
    received: ["a", "b", "b"],
    connections: 2,
  });
});

test("a request on a new connection that closes without an answer is an error", async () => {
  expect(await sent([closed(), said("1")], ["a"])).toMatchObject({ heard: ["ECONNRESET"], received: ["a"] });
});

test("a server that closes each connection is asked once more, not for ever", async () => {
  expect(await sent([said("1"), closed()], ["a", "b"])).toEqual({
    heard: ["1", "ECONNRESET"],
    received: ["a", "b", "b"],
    connections: 2,
  });
});

test("an answer that has begun is not asked for again", async () => {
  expect(await sent([said("1"), closed("HTTP/1.1 200 O"), said("2")], ["a", "b"])).toMatchObject({
    heard: ["1", "ECONNRESET"],
    received: ["a", "b"],
  });
});
