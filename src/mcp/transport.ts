/** Carries messages to and from a server: one JSON object a line. What is no message on its output is set aside. */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ServerProcess } from "./process.ts";
import { shownLine } from "./shown.ts";

/** Longest message, and most output that is none before the server is ended, in bytes. */
const limits = { message: 64_000_000, rubbish: 16_000_000 };

export type LineTransport = Transport & {
  /** Returns what went wrong on the way, as the end of a sentence; empty when nothing did. */
  trouble(): string;
};

type State = {
  parts: Buffer[];
  bytes: number;
  rubbish: number;
  sample: string;
  ended: string | undefined;
  closed: boolean;
};

/** `parse`: reads one line. Throws when it is no message. */
export function lineTransport(server: ServerProcess, parse: (line: string) => JSONRPCMessage): LineTransport {
  const state: State = { parts: [], bytes: 0, rubbish: 0, sample: "", ended: undefined, closed: false };
  const finish = (how: string): void => {
    state.ended ??= how;
    if (state.closed) return;
    state.closed = true;
    transport.onclose?.();
  };
  const stop = (how: string): void => {
    finish(how);
    void server.end();
  };
  const transport: LineTransport = {
    async start() {
      server.onEnd(finish);
      server.onBytes((bytes) => {
        if (state.closed) return;
        for (const line of linesOf(state, bytes)) read(line);
        if (state.bytes > limits.message) stop("sent a message of more than 64 MB and was stopped");
        else if (state.rubbish > limits.rubbish) stop("wrote 16 MB that are no messages and was stopped");
      });
    },
    async send(message) {
      if (state.closed) throw new Error(`the server ${state.ended ?? "has ended"}`);
      server.send(`${JSON.stringify(message)}\n`);
    },
    async close() {
      finish("was closed");
      await server.end();
    },
    trouble: () =>
      [state.ended, state.sample && `on its standard output was no message but: ${state.sample}`]
        .filter(Boolean)
        .join("; "),
  };
  const read = (line: string): void => {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = parse(line);
    } catch {
      state.rubbish += line.length;
      state.sample ||= shownLine(line.slice(0, 1000), 200);
      return;
    }
    transport.onmessage?.(message);
  };
  return transport;
}

/** Returns the complete lines, and keeps the rest. */
function linesOf(state: State, bytes: Buffer): string[] {
  const last = bytes.lastIndexOf(10);
  if (last === -1) {
    state.parts.push(bytes);
    state.bytes += bytes.length;
    return [];
  }
  const whole = Buffer.concat([...state.parts, bytes.subarray(0, last)]);
  const rest = bytes.subarray(last + 1);
  state.parts = rest.length === 0 ? [] : [rest];
  state.bytes = rest.length;
  return whole.toString("utf8").split("\n");
}
