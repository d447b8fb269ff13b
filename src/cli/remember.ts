/** What a person's choices leave behind between sessions: allow rules in the settings, and the lines that were typed. */

import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { readSettings, SettingsError } from "../config/settings.ts";
import { makeFolders } from "../core/make-folders.ts";

/** Adds an allow rule to the settings file, all or nothing. Throws `SettingsError` when it cannot. */
export function rememberRule(file: string, rule: string): void {
  const settings = readSettings(file);
  const allow = settings.allow ?? [];
  if (allow.includes(rule)) return;
  const text = `${JSON.stringify({ ...settings, allow: [...allow, rule] }, undefined, 2)}\n`;
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    makeFolders(dirname(file), (folder) => mkdirSync(folder, { mode: 0o700 }));
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new SettingsError(
      `${file} cannot be written (${(error as NodeJS.ErrnoException).code}): the rule counts for this session only`,
    );
  }
}

const keptLines = 1000;
/** Longer texts are worth no second use from memory. */
const longest = 10_000;

/** Lines typed in earlier sessions, oldest first; none when the file cannot be read. */
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

/** Failures are ignored: losing a line of history must not disturb the session. */
export function rememberTyped(file: string, text: string): void {
  if (text.length > longest) return;
  try {
    makeFolders(dirname(file), (folder) => mkdirSync(folder, { mode: 0o700 }));
    appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  } catch {
    // Read-only or full: then it is remembered in this session only.
  }
}
