/**
 * Runs in the sandbox's network, outside of its files and processes: listens, hands its sockets over to Sawtooth, and
 * ends. With `connect` it stays instead, and hands over a connection to a port inside for each message.
 */

import type { SendHandle } from "node:child_process";
import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";

/** The messages of the door; each but `failed` comes with its socket. */
export type DoorMessage =
  | { type: "names" }
  | { type: "port"; port: number }
  | { type: "connected"; id: number }
  | { type: "failed"; what: string; id?: number };

const [job = "", ...places] = process.argv.slice(2);

function send(message: DoorMessage, handle?: SendHandle): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, handle, {}, () => resolve());
  });
}

/** Listens on `address:port`; every address leads here (join.ts). A place that is taken is left out. */
function listen(place: string): Promise<void> {
  const [host, port] = [place.replace(/:\d+$/, ""), Number(/\d+$/.exec(place)?.[0])];
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => void send({ type: "failed", what: error.message }).then(resolve));
    server.listen({ port, host, backlog: 1024 }, () => {
      void send({ type: "port", port }, server).then(resolve);
    });
  });
}

function serveNames(): Promise<void> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", (error) => void send({ type: "failed", what: error.message }).then(resolve));
    socket.bind(53, "0.0.0.0", () => void send({ type: "names" }, socket).then(resolve));
  });
}

if (job === "listen") {
  await Promise.all([serveNames(), ...places.map(listen)]);
  process.exit(0);
}
if (job === "connect")
  process.on("message", ({ id, port }: { id: number; port: number }) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("error", (error) => void send({ type: "failed", what: error.message, id }));
    socket.once("connect", () => {
      socket.pause();
      void send({ type: "connected", id }, socket);
    });
  });
