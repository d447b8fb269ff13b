/** Reads a secret line: from a terminal without showing it, or all of standard input. */

import { StartError, UsageError } from "../core/errors.ts";
import { readStdin } from "./headless/stdin.ts";
import { writeError } from "./terminal-output.ts";

/** Returns a line, without the blanks around it. Throws `UsageError` for several lines, and when it was cancelled. */
export async function readSecret(prompt: string): Promise<string> {
  if (process.stdin.isTTY) return typed(prompt);
  const { text } = await readStdin(true);
  const lines = text.trim().split(/\r?\n/);
  if (lines.length > 1) throw new UsageError("standard input holds more than one line: send the key alone");
  return lines[0] ?? "";
}

/** Reads keys until Enter, with the echo off. Esc and Ctrl-C cancel. */
function typed(prompt: string): Promise<string> {
  const { stdin } = process;
  // Before the prompt: what is typed from then on is not shown.
  stdin.setRawMode(true).setEncoding("utf8").resume();
  writeError(prompt);
  let line = "";
  return new Promise<string>((resolve, reject) => {
    const onData = (piece: string) => {
      const read = afterKeys(line, piece);
      line = read.line;
      if (read.end === undefined) return;
      stdin.off("data", onData);
      stdin.setRawMode(false).pause();
      writeError("\n");
      if (read.end === "done") resolve(line.trim());
      else reject(new StartError("cancelled: nothing was stored", 130));
    };
    stdin.on("data", onData);
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
    else line = key === "\x15" ? "" : line + key;
  }
  return { line };
}
