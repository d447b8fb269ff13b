/**
 * Has V8 keep compiled what every start calls. Node's compile cache holds the functions that V8 compiles along with their
 * file; all others V8 compiles at their first call, in each start anew. It compiles along those in parentheses.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

type Range = { start: number; end: number };
type Coverage = {
  url: string;
  functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[];
};

/** A way to start the program. `talk`: what is said to it until its first request. */
type Start = { words: readonly string[]; talk(child: ChildProcess): void };

/** A headless run, and an editor's session. */
const starts: readonly Start[] = [
  { words: ["-p", "hi"], talk: ({ stdin }) => void stdin?.end() },
  { words: ["acp"], talk: promptOverProtocol },
];

/** Runs the built program up to its first request, and puts what that called into parentheses. `files`: absolute, those that may change. */
export async function compileEarly(main: string, files: readonly string[]): Promise<void> {
  const called = new Map<string, Map<number, Range>>();
  for (const start of starts) {
    for (const { url, functions } of await calledBefore(main, start)) {
      const file = url.startsWith("file:") ? fileURLToPath(url) : "";
      if (!files.includes(file)) continue;
      const ranges = called.get(file) ?? new Map<number, Range>();
      called.set(file, ranges);
      for (const {
        ranges: [whole],
      } of functions)
        if (whole && whole.count > 0)
          ranges.set(whole.startOffset, { start: whole.startOffset, end: whole.endOffset });
    }
  }
  for (const [file, ranges] of called)
    writeFileSync(file, inParentheses(readFileSync(file, "utf8"), [...ranges.values()]));
}

/** Ends the program as its first request leaves, which nobody gets, and tells what was called until then. */
const teller = `
  import { subscribe } from "node:diagnostics_channel";
  import { writeFileSync } from "node:fs";
  import { Session } from "node:inspector";
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  subscribe("http.client.request.start", () => {
    session.post("Profiler.takePreciseCoverage", (_, { result }) => writeFileSync("called.json", JSON.stringify(result)));
    process.exit(0);
  });`;

async function calledBefore(main: string, { words, talk }: Start): Promise<Coverage[]> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-build-"));
  const hook = `data:text/javascript,${encodeURIComponent(teller)}`;
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, SAWTOOTH_HOME: folder },
    ...{ ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
  };
  try {
    const child = spawn(process.execPath, ["--import", hook, main, ...words], {
      ...{ cwd: folder, env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    talk(child);
    const code = await new Promise((resolve) => child.on("close", resolve));
    if (code !== 0) throw new Error(`${words.join(" ")} sent no request: it ended with ${code}`);
    return JSON.parse(readFileSync(join(folder, "called.json"), "utf8")) as Coverage[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens a session as an editor does, and sends a prompt. */
function promptOverProtocol({ stdin, stdout }: ChildProcess): void {
  const send = (id: number, method: string, params: object): void =>
    void stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  send(1, "initialize", { protocolVersion: 1 });
  createInterface({ input: stdout as NodeJS.ReadableStream }).on("line", (line) => {
    const { id, result } = JSON.parse(line) as { id?: number; result?: { sessionId?: string } };
    if (id === 1) send(2, "session/new", { cwd: tmpdir(), mcpServers: [] });
    const prompt = [{ type: "text", text: "hi" }];
    if (id === 2) send(3, "session/prompt", { sessionId: result?.sessionId, prompt });
  });
}

/** Matches the line that begins what a source gave to a bundle. */
const sourceLine = /^\/\/ (?:src|node_modules)\/.*\n/gm;

/**
 * Puts these functions into parentheses. A declaration becomes a variable at the beginning of its source, so that it is
 * there before anything of the source runs.
 */
export function inParentheses(code: string, functions: readonly Range[]): string {
  const declared = functions.filter((range) => isDeclaration(code, range));
  const expressions = functions.filter((range) => !declared.includes(range) && isExpression(code, range));
  const signs = expressions.flatMap(({ start, end }) => [
    { at: start, sign: "(" },
    { at: end, sign: ")" },
  ]);
  const written = ({ start, end }: Range): string => {
    const inside = signs.filter(({ at }) => at >= start && at <= end).sort((a, b) => a.at - b.at);
    const ends = inside.map(({ at }) => at);
    const pieces = [start, ...ends].map((from, index) => code.slice(from, ends[index] ?? end));
    return pieces.map((piece, index) => piece + (inside[index]?.sign ?? "")).join("");
  };
  const starts = [...code.matchAll(sourceLine)].map(({ index, 0: line }) => index + line.length);
  return [0, ...starts]
    .map((start, index) => ({ start, end: starts[index] ?? code.length }))
    .map((section) => {
      const moved = declared
        .filter(({ start }) => start >= section.start && start < section.end)
        .sort((a, b) => a.start - b.start);
      const variables = moved.map((range) => `var ${nameOf(code, range)} = (${written(range)});\n`);
      const gaps = [section.start, ...moved.map(({ end }) => end)].map((start, at) =>
        written({ start, end: moved[at]?.start ?? section.end }),
      );
      return variables.join("") + gaps.join("");
    })
    .join("");
}

/** Returns true for a declaration of the file itself: esbuild writes it at the beginning of a line. */
function isDeclaration(code: string, { start, end }: Range): boolean {
  return code[start - 1] === "\n" && declaration.test(code.slice(start, end));
}

const declaration = /^(?:async )?function\*? ?([\w$]+)\(/;

function nameOf(code: string, { start, end }: Range): string {
  return declaration.exec(code.slice(start, end))?.[1] ?? "";
}

/** Returns true for an arrow function or a function expression; false for a method, a class and an inner declaration. */
function isExpression(code: string, { start, end }: Range): boolean {
  const text = code.slice(start, end);
  const onOwnLine = /\n *$/.test(code.slice(Math.max(0, start - 100), start));
  if (onOwnLine && /^(?:async )?function\b/.test(text)) return false;
  if (!/^(?:async *)?(?:function\b|[\w$]+ *=>|\()/.test(text)) return false;
  try {
    new Script(`(${text})`);
    return true;
  } catch {
    return false;
  }
}
