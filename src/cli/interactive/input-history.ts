/** Stores the user's input between sessions. */

import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders } from "../../disk/make-folders.ts";
import { appendLine } from "../../disk/replace-file.ts";

const keptLines = 1000;
/** Longer texts are not stored. */
const longest = 10_000;

/** Returns lines typed in earlier sessions, oldest first; none when the file cannot be read. */
export function typedLines(file: string): string[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean).slice(-keptLines);
    return lines.flatMap((line) => {
      try {
        const text: unknown = JSON.parse(line);
        return typeof text === "string" ? [text] : [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Appends a line. Failures are ignored: losing a line of history must not disturb the session. */
export function rememberTyped(file: string, text: string): void {
  if (text.length > longest) return;
  try {
    makeFolders(dirname(file), 0o700);
    appendLine(file, JSON.stringify(text));
  } catch {
    // Read-only or full: the line is remembered in this session only.
  }
}
