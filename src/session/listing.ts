/** Which sessions are stored, and where: `<root>/<slug of cwd>/<id>/events.jsonl`. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { UserBlock } from "../core/blocks.ts";
import type { LogEvent } from "../core/events.ts";
import { SessionError } from "./errors.ts";
import { parseLine } from "./read.ts";

export type SessionSummary = {
  id: string;
  folder: string;
  cwd: string;
  /** What the person called it, if anything. */
  name?: string;
  /** The first words of the first user message; empty when there is none yet. */
  title: string;
  /** Milliseconds since 1970. */
  started: number;
  changed: number;
  /** User messages. */
  turns: number;
};

/** Which session is meant: one by id (or a unique beginning of it), or the newest of a folder (or of all). */
export type SessionChoice = { root: string; cwd?: string; id?: string; newest?: boolean };

/** The log of a session folder. */
export function logFile(folder: string): string {
  return join(folder, "events.jsonl");
}

/** The folder name for a working directory: readable, short, and different for different directories. */
export function slugOf(cwd: string): string {
  const real = realOf(cwd);
  const words = real.replace(/[^A-Za-z0-9.]+/g, "-").replace(/^[-.]+|[-.]+$/g, "");
  return `${words.slice(-60) || "root"}-${createHash("sha256").update(real).digest("hex").slice(0, 8)}`;
}

function realOf(cwd: string): string {
  try {
    return realpathSync(cwd);
  } catch {
    return resolve(cwd);
  }
}

/** All sessions with a readable beginning, the most recently changed first; only those of `cwd` when given. */
export function listSessions(root: string, cwd?: string): SessionSummary[] {
  return sessionFolders(root, cwd)
    .flatMap((folder) => summary(folder) ?? [])
    .sort((a, b) => b.changed - a.changed || (a.id < b.id ? 1 : -1));
}

/** The folder of the chosen session. Throws `SessionError` when there is none, or more than one. */
export function findSession({ root, cwd, id, newest }: SessionChoice): string {
  if (id === undefined || newest) {
    const newestFolder = listSessions(root, cwd)[0]?.folder;
    if (newestFolder) return newestFolder;
    throw new SessionError(`no session is stored${cwd ? ` for ${cwd}` : ""}: start one without --continue`);
  }
  const found = sessionFolders(root).filter((folder) => id !== "" && basename(folder).startsWith(id));
  const exact = found.find((folder) => basename(folder) === id) ?? found[0];
  if (!exact) throw new SessionError(`no session begins with "${id}": see sawtooth sessions list`);
  if (found.length === 1 || basename(exact) === id) return exact;
  const names = found.slice(0, 5).map((folder) => basename(folder));
  throw new SessionError(`"${id}" fits ${found.length} sessions, give more of it: ${names.join(", ")}`);
}

/** The folders of all sessions, or of those of `cwd`. */
export function sessionFolders(root: string, cwd?: string): string[] {
  const slugs = cwd === undefined ? subfolders(root) : [join(root, slugOf(cwd))];
  return slugs.flatMap(subfolders).filter((folder) => /^\d{8}-\d{6}-/.test(basename(folder)));
}

function subfolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  } catch {
    return [];
  }
}

/** Parses a few lines of the log and only counts the others: a listing stays quick over large sessions. */
function summary(folder: string): SessionSummary | undefined {
  const bytes = readOrNothing(logFile(folder));
  const firstEnd = bytes.indexOf(10);
  const first = parseLine(bytes.subarray(0, firstEnd < 0 ? bytes.length : firstEnd)) as LogEvent | undefined;
  if (first?.type !== "session_started") return undefined;
  const { cwd, at } = first;
  const changed = statSync(logFile(folder)).mtimeMs;
  return { id: basename(folder), folder, cwd, started: at, changed, ...wordsIn(bytes) };
}

function wordsIn(bytes: Buffer): Pick<SessionSummary, "turns" | "title" | "name"> {
  let [turns, title, name] = [0, "", ""];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    const head = bytes.toString("latin1", start, Math.min(end, start + 80));
    const type = /^\{"seq":\d+,"at":\d+,"type":"(user_message|session_named)"/.exec(head)?.[1];
    if (type === "user_message") {
      turns += 1;
      title ||= titleOf(bytes.subarray(start, end));
    }
    if (type === "session_named") name = nameOf(bytes.subarray(start, end));
    start = end + 1;
  }
  return { turns, title, ...(name ? { name } : {}) };
}

function titleOf(line: Buffer): string {
  const event = parseLine(line) as LogEvent | undefined;
  if (event?.type !== "user_message") return "";
  const text = event.content.map((block: UserBlock) => (block.type === "text" ? block.text : "[image]"));
  const words = onOneLine(text.join(" "));
  return words.length > 60
    ? `${words
        .slice(0, 60)
        .toWellFormed()
        .replace(/\s\S*$/, "")}…`
    : words;
}

function nameOf(line: Buffer): string {
  const event = parseLine(line) as LogEvent | undefined;
  return event?.type === "session_named" ? onOneLine(event.name) : "";
}

function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
}

function readOrNothing(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
