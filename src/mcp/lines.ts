/** Carries messages to and from a server: one JSON object a line. What is no message on its output is set aside. */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Channel } from "./channel.ts";
import type { ServerProcess } from "./process.ts";
import { shownLine } from "./shown.ts";

/** Longest message, and most output that is none before the server is ended, in bytes. */
const limits = { message: 64_000_000, rubbish: 16_000_000 };
/** More notifications than `most` within `ms` end the server. */
const flood = { most: 20_000, ms: 10_000 };
/** Calls whose answers may still come; older ones are forgotten. */
const mostCalls = 10_000;

type State = {
  parts: Buffer[];
  bytes: number;
  rubbish: number;
  sample: string;
  /** Ids of calls that were made. */
  calls: Set<string | number>;
  /** An id that was answered, and not called. */
  foreign: string;
  /** Notifications since `since`, in milliseconds. */
  notified: { count: number; since: number };
  ended: string | undefined;
  /** The last line of its standard error at its end. */
  words: string;
  byItself: boolean;
  closed: boolean;
};

/** `parse`: reads one line. Throws when it is no message. */
export function lineChannel(server: ServerProcess, parse: (line: string) => JSONRPCMessage): Channel {
  const state: State = {
    ...{ parts: [], bytes: 0, rubbish: 0, sample: "", calls: new Set(), foreign: "" },
    ...{ notified: { count: 0, since: 0 }, ended: undefined, words: "", byItself: false, closed: false },
  };
  const finish = (how: string, byItself = false): void => {
    state.ended ??= how;
    if (state.closed) return;
    state.closed = true;
    state.byItself = byItself;
    if (byItself) state.words = shownLine(server.lastWords(), 300);
    transport.onclose?.();
  };
  const take = (line: string): void => {
    const message = messageIn(state, line, parse);
    if (message) transport.onmessage?.(message);
  };
  const stop = (how: string): void => {
    finish(how, true);
    void server.end();
  };
  // The SDK knows by the two names that this is a program, where silence at a question means the older protocol.
  const transport: Transport & { stderr: null; pid: null } = {
    ...{ stderr: null, pid: null },
    async start() {
      server.onEnd((how) => finish(how, true));
      server.onBytes((bytes) => {
        if (state.closed) return;
        for (const line of linesOf(state, bytes)) if (!state.closed) take(line);
        if (state.bytes > limits.message) stop("sent a message of more than 64 MB and was stopped");
        else if (state.rubbish > limits.rubbish) stop("wrote 16 MB that are no messages and was stopped");
        else if (state.notified.count > flood.most)
          stop("sent 20,000 notifications within 10 s and was stopped");
      });
    },
    async send(message) {
      if (state.closed) throw new Error(`the server ${state.ended ?? "has ended"}`);
      if ("method" in message && "id" in message) remember(state, message.id);
      server.send(`${JSON.stringify(message)}\n`);
    },
    async close() {
      finish("was closed");
      await server.end();
    },
  };
  return {
    transport,
    trouble: () => troubleOf(state),
    hasEnded: () => state.byItself,
    end: async () => {
      finish("was closed");
      await server.end();
    },
  };
}

/** Reads a line; undefined for one that is no message, which is noted. */
function messageIn(
  state: State,
  line: string,
  parse: (line: string) => JSONRPCMessage,
): JSONRPCMessage | undefined {
  if (line.trim() === "") return undefined;
  try {
    const message = parse(line);
    note(state, message);
    return message;
  } catch {
    state.rubbish += line.length;
    state.sample ||= shownLine(line.slice(0, 1000), 200);
    return undefined;
  }
}

function troubleOf({ ended, words, byItself, sample, foreign }: State): string {
  const parts = [
    byItself && `${ended}${words && `; its last words: ${words}`}`,
    sample && `on its standard output was no message but: ${sample}`,
    foreign && `it answered the call ${foreign}, which was not made`,
  ];
  return parts.filter(Boolean).join("; ");
}

function remember({ calls }: State, id: string | number): void {
  calls.add(id);
  const [oldest] = calls;
  if (calls.size > mostCalls && oldest !== undefined) calls.delete(oldest);
}

/** Notes an answer to a call that was not made, and how fast notifications come. */
function note(state: State, message: JSONRPCMessage): void {
  if (!("method" in message)) {
    const { id } = message;
    if (id !== undefined && id !== null && !state.calls.has(id)) state.foreign ||= shownLine(String(id), 40);
    return;
  }
  if ("id" in message) return;
  const now = performance.now();
  if (now - state.notified.since > flood.ms) state.notified = { count: 0, since: now };
  state.notified.count += 1;
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
