/** Reads one line from a terminal key by key, shown or not, or all of standard input. */

import { StartError, UsageError } from "../core/errors.ts";
import { readStdin } from "./headless/stdin.ts";

/** Returns a secret without the blanks around it. Throws `UsageError` for several lines, `StartError` when cancelled. */
export async function readSecret(prompt: string): Promise<string> {
  if (process.stdin.isTTY) {
    const line = await typedLine(prompt, { shown: false });
    if (line !== undefined) return line;
    throw new StartError("cancelled: nothing was stored", 130);
  }
  const { text } = await readStdin(true);
  const lines = text.trim().split(/\r?\n/);
  if (lines.length > 1) throw new UsageError("standard input holds more than one line: send the key alone");
  return lines[0] ?? "";
}

/**
 * Reads keys until Enter. Esc, Ctrl-C and the signal cancel: undefined. `shown`: what is typed appears; `typed`: keys
 * that came before.
 */
export function typedLine(
  prompt: string,
  { shown, signal, typed = "" }: { shown: boolean; signal?: AbortSignal; typed?: string },
): Promise<string | undefined> {
  const { stdin, stderr } = process;
  // Before the prompt: what is typed from then on is not shown by the terminal itself.
  stdin.setRawMode(true).setEncoding("utf8").resume();
  stderr.write(prompt);
  let line = "";
  return new Promise((resolve) => {
    const end = (value: string | undefined) => {
      signal?.removeEventListener("abort", cancel);
      stdin.off("data", onData);
      stdin.setRawMode(false).pause();
      stderr.write("\n");
      resolve(value);
    };
    const cancel = () => end(undefined);
    const onData = (piece: string) => {
      const read = afterKeys(line, piece);
      if (shown) stderr.write(changeOf(line, read.line));
      line = read.line;
      if (read.end === "done") end(line.trim());
      else if (read.end === "cancelled") cancel();
    };
    stdin.on("data", onData);
    if (typed !== "") onData(typed);
    signal?.addEventListener("abort", cancel, { once: true });
  });
}

/** Returns the line after these keys, and how it ended if it did. */
function afterKeys(before: string, keys: string): { line: string; end?: "done" | "cancelled" } {
  let line = before;
  // A paste may come in brackets, as a terminal that was left in that mode sends it.
  for (const key of keys.replaceAll(/\x1b\[20[01]~/g, "")) {
    if (key === "\r" || key === "\n") return { line, end: "done" };
    if (key === "\x03" || key === "\x1b" || (key === "\x04" && line === ""))
      return { line, end: "cancelled" };
    if (key === "\x7f" || key === "\b") line = line.slice(0, -1);
    else if (key === "\x15") line = "";
    else if (key >= " ") line += key;
  }
  return { line };
}

/** Returns what turns one line into the other on a terminal. */
function changeOf(before: string, after: string): string {
  if (after.startsWith(before)) return after.slice(before.length);
  return `${"\b \b".repeat(before.length)}${after}`;
}
