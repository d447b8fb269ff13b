/** The server of the live page with readers that do not read. */

import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { servePage } from "../../src/app/live/page-server.ts";
import { until } from "../support/until.ts";

const message = `data: ${"x".repeat(4900)}\n\n`;

/** Stops this process, the page's server and its readers with it. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A page that has as many messages as `count` says. */
async function serve(pace: { beatMs: number; patience: number }) {
  let count = 0;
  const server = await servePage(
    {
      page: () => "",
      policy: "",
      body: () => undefined,
      message: (after) =>
        Number(after) >= count ? undefined : { text: message, id: String(Number(after) + 1) },
    },
    pace,
  );
  onTestFinished(() => server.close("over"));
  const grow = (by: number): void => {
    count += by;
    server.push();
  };
  return { ...server, grow };
}

/** A page that asks for updates and reads none of them. */
function idle(url: string): void {
  const { port, host, pathname } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {}).pause();
  socket.write(`GET ${pathname}updates?from=0 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
}

function follow(url: string, from = 0): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${url}updates?from=${from}`, { agent: false }, resolve).on("error", reject);
  });
}

/** Counts the bytes of a page that reads. */
async function reading(url: string) {
  const reader = await follow(url);
  expect(reader.statusCode).toBe(200);
  let bytes = 0;
  reader.on("data", (read: Buffer) => {
    bytes += read.length;
  });
  // One that is dropped hears no more of it.
  reader.on("error", () => {});
  return {
    async hears(messages: number): Promise<void> {
      await until(() => bytes >= messages * message.length || reader.destroyed, "all messages");
      expect(bytes).toBeGreaterThanOrEqual(messages * message.length);
    },
  };
}

test("a page that reads is not dropped for what kept the server itself from writing", async () => {
  const { url, grow } = await serve({ beatMs: 20, patience: 5 });
  const { hears } = await reading(url);
  // More than the buffers of the system hold: the reader is behind whenever all stands still.
  grow(4000);
  for (let round = 1; round <= 5; round++) {
    await setImmediate();
    standStill(150);
  }
  await hears(4000);
});

test("pages that read nothing are dropped after the patience, keep nobody from growing, and make room", async () => {
  const { url, grow } = await serve({ beatMs: 20, patience: 5 });
  for (let count = 0; count < 15; count++) idle(url);
  const { hears } = await reading(url);
  // More than the buffers of the system hold for one that reads nothing.
  for (let round = 0; round < 40; round++) grow(100);
  await hears(4000);
  // Each that is dropped makes room for one: at the end for all of them.
  for (let others = 0; others < 15; ) {
    const other = (await follow(url, 4000)).resume();
    if (other.statusCode === 200) others += 1;
    else await sleep(20);
  }
  expect((await follow(url, 4000)).statusCode).toBe(503);
});
