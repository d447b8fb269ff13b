/**
 * The messages of the protocol over two streams, a line of JSON each. The adapter that comes with the SDK hangs up on a
 * message that is too long, which this one refuses, and reads on. It is no web stream, only what the SDK uses of one:
 * Node would load its implementation of them before the first request.
 */

import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** Bytes of a message that is too long which are kept, to find its id. */
const beginningBytes = 4096;

type Options = {
  /** Most bytes of a message. */
  most: number;
  /** Writes a message; resolves once another may follow. */
  write(message: object): Promise<void>;
};

/** Reads messages from `input` until it ends. What is none is answered with why. */
export function messagesOver(input: NodeJS.ReadableStream, { most, write }: Options): Stream {
  const refuse = (code: number, message: string, id: unknown = null): void =>
    void write({ jsonrpc: "2.0", id, error: { code, message } });
  const received = queue<AnyMessage>();
  const take = (line: Buffer): void => {
    const message = parsed(line.toString().trim());
    if (message === "") return;
    if (message === undefined) refuse(-32700, "Parse error: a message is one line of JSON");
    else if (typeof message === "object" && message !== null && !Array.isArray(message))
      received.add(message as AnyMessage);
    else refuse(-32600, "Invalid request: a message is one JSON object, and there are no batches");
  };
  const onLong = (beginning: string): void => {
    const words = `the message has more than ${most} bytes: send less text or smaller images, or name a file`;
    refuse(-32600, words, idIn(beginning));
  };
  const lines = lineReader({ most, take, onLong });
  const end = (): void => {
    if (received.isOver()) return;
    lines.end();
    received.end();
  };
  input.on("data", lines.push).on("end", end).on("close", end).on("error", end);
  const reader = { read: received.next, cancel: async () => received.end(), releaseLock() {} };
  const writer = { write, releaseLock() {} };
  return {
    readable: { getReader: () => reader },
    writable: { getWriter: () => writer },
  } as unknown as Stream;
}

type Read<T> = { value: T; done: false } | { value: undefined; done: true };

/** Holds what came until somebody asks for it. */
function queue<T>() {
  const held: T[] = [];
  let asked: ((read: Read<T>) => void) | undefined;
  let over = false;
  const next = (): Promise<Read<T>> => {
    const value = held.shift();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    if (over) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      asked = resolve;
    });
  };
  const wake = (): void => {
    const resolve = asked;
    asked = undefined;
    if (resolve) void next().then(resolve);
  };
  return {
    next,
    isOver: () => over,
    add(value: T): void {
      held.push(value);
      wake();
    },
    end(): void {
      over = true;
      wake();
    },
  };
}

/** Returns undefined for what is no JSON, and "" for an empty line. */
function parsed(line: string): unknown {
  if (line === "") return "";
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Finds the id of a message in its beginning, where clients write it. */
function idIn(beginning: string): unknown {
  const [, id = "null"] = /^\s*\{[^{[]*?"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")/.exec(beginning) ?? [];
  return JSON.parse(id);
}

type Lines = { most: number; take(line: Buffer): void; onLong(beginning: string): void };

/** Cuts bytes into lines. Of a line that is too long only the beginning is held. */
function lineReader({ most, take, onLong }: Lines) {
  let parts: Buffer[] = [];
  let length = 0;
  const add = (bytes: Buffer): void => {
    length += bytes.length;
    if (length <= most) parts.push(bytes);
    else if (parts.length > 0) parts = [Buffer.concat(parts).subarray(0, beginningBytes)];
    else parts = [bytes.subarray(0, beginningBytes)];
  };
  const end = (): void => {
    const line = Buffer.concat(parts);
    const isLong = length > most;
    [parts, length] = [[], 0];
    if (isLong) onLong(line.toString());
    else take(line);
  };
  return {
    end,
    push(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, at));
        from = at + 1;
        end();
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
  };
}
