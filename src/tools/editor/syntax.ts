/**
 * Finds the syntax error that an edit brought into a file. Only parsers look at it: nothing of the repository runs, and
 * programs come from the system's folders.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, extname } from "node:path";
import { compileFunction } from "node:vm";

/** Milliseconds for all parsers of one edit: a later answer is not waited for. */
const mostMs = 300;
/** Characters above which a file is not parsed. */
const mostLength = 512 * 1024;

/** `line`: counted from 1, where the parser says it. */
export type SyntaxFault = { line?: number | undefined; message: string };

/** Returns undefined for a text without an error, and where no parser can say. */
type Parser = (
  text: string,
  signal: AbortSignal,
) => SyntaxFault | undefined | Promise<SyntaxFault | undefined>;

/**
 * Returns the error in `after` where `before` had none; `before` is undefined for a new file. Waits for at
 * most `within` milliseconds. Never throws.
 */
export async function newSyntaxFault(
  path: string,
  { before, after }: { before: string | undefined; after: string },
  signal: AbortSignal,
  within = mostMs,
): Promise<SyntaxFault | undefined> {
  const parser = parserOf(path, after);
  if (!parser || Math.max(after.length, before?.length ?? 0) > mostLength) return undefined;
  const either = AbortSignal.any([signal, AbortSignal.timeout(within)]);
  const fault = await parser(after, either);
  if (!fault || before === undefined) return fault;
  const known = await parser(before, either);
  // When the time is over before the old text is judged, nothing is known of it.
  return known || either.aborted ? undefined : fault;
}

/** Words the error for the model, in one line. */
export function faultLine({ line, message }: SyntaxFault): string {
  const where = line === undefined ? "" : ` in line ${line}`;
  const words = message.replaceAll(/\s+/g, " ").trim().slice(0, 200).toWellFormed();
  return `[Since this edit there is a syntax error${where}: ${words}]`;
}

function parserOf(path: string, text: string): Parser | undefined {
  switch (extname(path).toLowerCase()) {
    case ".json":
      return hasComments(path, text) ? undefined : parseJson;
    case ".sh":
    case ".bash":
      return /^#!(?!.*\b(?:ba)?sh\b)/.test(text) ? undefined : parseBash;
    case ".cjs":
      return parseScript;
    case ".mjs":
      return parseModule;
    case ".js":
      // JSX and types are for other parsers.
      return /<\/|\/>|@flow\b/.test(text) ? undefined : parseEither;
    case ".py":
      return parsePython;
    default:
      return undefined;
  }
}

/** Files that are JSON by name, but may hold comments and more commas. */
function hasComments(path: string, text: string): boolean {
  return (
    /^(?:[tj]sconfig|devcontainer|\.eslintrc)|language-configuration/.test(basename(path)) ||
    /\/\.(?:vscode|devcontainer|zed)\//.test(path) ||
    /^\s*\/[/*]/m.test(text)
  );
}

const parseJson: Parser = (text) => {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return { message: (error as Error).message };
  }
};

/** Compiles the text as a CommonJS module, in this process, and runs nothing of it. */
const parseScript: Parser = (text) => {
  try {
    compileFunction(text.replace(/^#!/, "//"), ["exports", "require", "module", "__filename", "__dirname"], {
      filename: "edited",
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SyntaxError") return undefined;
    const line = /^edited:(\d+)/.exec(error.stack ?? "")?.[1];
    return { line: line === undefined ? undefined : Number(line), message: error.message };
  }
};

const parseModule: Parser = async (text, signal) => {
  const ended = await run([process.execPath, "--check", "--input-type=module", "-"], text, signal);
  const message = /^SyntaxError: (.*)$/m.exec(ended?.stderr ?? "")?.[1];
  const line = /^\[stdin\]:(\d+)/m.exec(ended?.stderr ?? "")?.[1];
  return ended?.code === 1 && message && line ? { line: Number(line), message } : undefined;
};

/** A `.js` file is a script or a module: it has an error when it is neither. */
const parseEither: Parser = async (text, signal) => {
  const asScript = await parseScript(text, signal);
  const asModule = asScript && (await parseModule(text, signal));
  if (!asModule) return undefined;
  return /^\s*(?:import|export)\b/m.test(text) ? asModule : asScript;
};

const parseBash: Parser = async (text, signal) => {
  const bash = ["/bin/bash", "/usr/bin/bash"].find(existsSync);
  if (!bash) return undefined;
  const ended = await run([bash, "--norc", "--noprofile", "-O", "extglob", "-n"], text, signal);
  const [, line, message] = /line (\d+): (.*)/.exec(ended?.stderr ?? "") ?? [];
  return ended?.code && line && message ? { line: Number(line), message } : undefined;
};

const compilePython = `import sys
try:
    compile(sys.stdin.buffer.read(), "edited", "exec", dont_inherit=True)
except SyntaxError as error:
    sys.stderr.write("\\n%d %s (Python %d.%d)" % ((error.lineno or 0, error.msg) + sys.version_info[:2]))
    sys.exit(3)
`;

const parsePython: Parser = async (text, signal) => {
  const python = pythons.find(existsSync);
  if (!python) return undefined;
  const ended = await run([python, "-I", "-S", "-c", compilePython], text, signal);
  const [, line, message] = /(\d+) (.*)$/.exec(ended?.stderr ?? "") ?? [];
  return ended?.code === 3 && line && message ? { line: Number(line) || undefined, message } : undefined;
};

/** On a Mac `/usr/bin/python3` may ask the person to install something. */
const pythons =
  process.platform === "darwin"
    ? ["/Library/Developer/CommandLineTools/usr/bin/python3"]
    : ["/usr/bin/python3", "/usr/local/bin/python3"];

/** Runs a parser without an environment, away from the workspace. Undefined when it was stopped or cannot start. */
function run(
  [program = "", ...words]: string[],
  input: string,
  signal: AbortSignal,
): Promise<{ code: number | null; stderr: string } | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, words, {
      ...{ cwd: "/", env: {}, signal, killSignal: "SIGKILL" },
      stdio: ["pipe", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      if (stderr.length < 10_000) stderr += part;
    });
    child.on("error", () => resolve(undefined));
    child.on("close", (code) => resolve({ code, stderr }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
