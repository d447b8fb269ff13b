/** Answers the program `mcp` of the shell: on a socket that only the person's own processes reach. */

import { chmodSync, closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { clientProgram, socketName } from "./client.ts";

/** Output and exit code of a command. `pass`: another program of this name is tried first. */
export type Printed = { out: string; errors: string; code: number; pass?: true };

/** A command as it was started. `input`: its standard input, where a word is `-`. */
export type Started = { words: string[]; input: string };

/** Answers a command. `signal`: aborted when the command has ended. Never rejects. */
export type AnswerCommand = (started: Started, signal: AbortSignal) => Promise<Printed>;

export type Listener = { close(): void };

/** Most bytes of the words and of the input of one command. */
const mostBytes = 16_000_000;

/** Writes the program into `folder` and listens beside it. Rejects with why it cannot. */
export async function listenForCommands(folder: string, answer: AnswerCommand): Promise<Listener> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const program = join(folder, "mcp");
  rmSync(program, { force: true });
  writeFileSync(program, clientProgram(), { mode: 0o500 });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    serve(socket, answer);
  });
  const path = join(folder, socketName);
  await bind(server, folder, path);
  server.unref();
  return {
    close() {
      server.close();
      for (const socket of open) socket.destroy();
      rmSync(path, { force: true });
    },
  };
}

/**
 * Binds a socket in a folder whose path is longer than a socket's may be, and renames it: under the name that the kernel
 * tells of it there is then nothing, so a sandbox does not take it for one of the machine's.
 */
async function bind(server: Server, folder: string, path: string): Promise<void> {
  const fresh = `new-${process.pid}`;
  const fd = openSync(folder, "r");
  try {
    const near = process.platform === "linux" ? `/proc/self/fd/${fd}` : folder;
    if (Buffer.byteLength(join(near, fresh)) > 103)
      throw new Error(`the path of the session's folder is too long for a socket: ${folder}`);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(join(near, fresh), resolve);
    });
    chmodSync(join(folder, fresh), 0o600);
    renameSync(join(folder, fresh), path);
  } finally {
    closeSync(fd);
  }
}

function serve(socket: Socket, answer: AnswerCommand): void {
  const ended = new AbortController();
  let parts: Buffer[] = [];
  let bytes = 0;
  let head: Head | undefined;
  let isAnswered = false;
  const reply = (printed: Printed | Promise<Printed>): void => {
    isAnswered = true;
    void Promise.resolve(printed).then((one) => print(socket, one));
  };
  socket.on("error", () => {});
  socket.on("close", () => ended.abort());
  socket.on("data", (part: Buffer) => {
    if (isAnswered) return;
    parts.push(part);
    bytes += part.length;
    if (bytes > mostBytes) return reply(tooMuch);
    if (!head) {
      const text = Buffer.concat(parts);
      parts = [text];
      head = readHead(text);
    }
    if (!head || bytes - head.at < head.length) return;
    const input = Buffer.concat(parts).toString("utf8", head.at, head.at + head.length);
    reply(answer({ words: head.words, input }, ended.signal));
  });
}

const tooMuch: Printed = { out: "", errors: `mcp: more than ${mostBytes / 1e6} MB of arguments\n`, code: 1 };

/** `at`: where the input begins; `length`: of the input, in bytes. */
type Head = { words: string[]; at: number; length: number };

/** Reads the words and the length of the input; undefined until all of them are there. */
function readHead(bytes: Buffer): Head | undefined {
  const words: string[] = [];
  let at = 0;
  for (let left = 1; left > 0; left--) {
    const end = bytes.indexOf(0, at);
    if (end === -1) return undefined;
    const word = bytes.toString("utf8", at, end);
    // The first says how many follow it, besides the length.
    if (at === 0) left += Number(word) + 1;
    else words.push(word);
    at = end + 1;
  }
  return { words, at, length: Number(words.pop()) };
}

function print(socket: Socket, { out, errors, code, pass }: Printed): void {
  if (socket.destroyed) return;
  const piece = (kind: string, text: string): (string | Buffer)[] => {
    const bytes = Buffer.from(text);
    return bytes.length === 0 ? [] : [`${kind}${bytes.length}\n`, bytes];
  };
  if (pass) socket.write("p\n");
  for (const part of [...piece("o", out), ...piece("e", errors)]) socket.write(part);
  socket.end(`x${code}\n`);
}
