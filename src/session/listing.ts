/** Lists and finds stored sessions: `<root>/<slug of cwd>/<id>/events.jsonl`. */

import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { UserBlock } from "../core/blocks.ts";
import type { EventOf, LogEvent } from "../core/events.ts";
import { costOf, type Prices, type Usage } from "../core/model-card.ts";
import { SessionError } from "./errors.ts";
import { parseLine } from "./read.ts";

export type SessionSummary = {
  id: string;
  folder: string;
  cwd: string;
  /** The name the user gave it, if any. */
  name?: string;
  /** The first words of the first user message; empty when there is none yet. */
  title: string;
  /** Milliseconds since 1970. */
  started: number;
  changed: number;
  /** User messages. */
  turns: number;
  /** Dollars. */
  cost: number;
};

/**
 * Selects a session: one by id (or a unique prefix of it, or its name, which is looked for in `cwd` first), or the
 * newest of a folder (or of all).
 */
export type SessionChoice = { root: string; cwd?: string; id?: string; newest?: boolean };

/** Returns the log file of a session folder. */
export function logFile(folder: string): string {
  return join(folder, "events.jsonl");
}

/** Returns the folder name for a working directory: readable, short, and different for different directories. */
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

/**
 * Lists the sessions with a readable beginning, the most recently changed first; only those of `cwd` when given, and at
 * most `most`.
 */
export function listSessions(root: string, cwd?: string, most?: number): SessionSummary[] {
  return newestFirst(root, cwd)
    .slice(0, most)
    .flatMap(({ folder, changed }) => summary(folder, changed) ?? []);
}

/**
 * Lists a page of the sessions with a message or a name, the most recently changed first: `most` of them, from the place
 * `from` on. `next`: the place where the following page begins; absent on the last one.
 */
export function pageOfSessions(
  root: string,
  cwd: string | undefined,
  { from, most }: { from: number; most: number },
): { sessions: SessionSummary[]; next?: number } {
  const all = newestFirst(root, cwd);
  const sessions: SessionSummary[] = [];
  for (let place = from; place < all.length; place++) {
    if (sessions.length === most) return { sessions, next: place };
    const { folder = "", changed = 0 } = all[place] ?? {};
    const found = summary(folder, changed);
    if (found && (found.turns > 0 || found.name !== undefined)) sessions.push(found);
  }
  return { sessions };
}

function newestFirst(root: string, cwd: string | undefined): { folder: string; changed: number }[] {
  return sessionFolders(root, cwd)
    .map((folder) => ({ folder, changed: changedAt(folder) }))
    .sort((a, b) => b.changed - a.changed || (basename(a.folder) < basename(b.folder) ? 1 : -1));
}

function changedAt(folder: string): number {
  return statSync(logFile(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Returns the folder of the chosen session. Throws `SessionError` when there is none, or more than one. */
export function findSession({ root, cwd, id, newest }: SessionChoice): string {
  if (id === undefined || newest) {
    const newestFolder = listSessions(root, cwd)[0]?.folder;
    if (newestFolder) return newestFolder;
    throw new SessionError(`no session is stored${cwd ? ` for ${cwd}` : ""}: start one first`);
  }
  const found = sessionFolders(root).filter((folder) => id !== "" && basename(folder).startsWith(id));
  const exact =
    found.find((folder) => basename(folder) === id) ?? (found.length === 1 ? found[0] : undefined);
  if (exact) return exact;
  const named = namedSession(root, cwd, id);
  if (named) return named;
  const delegate = found.length === 0 ? delegateFolder(root, id) : undefined;
  if (delegate) return delegate;
  if (found.length === 0)
    throw new SessionError(`no session has the id or name "${id}": see sawtooth sessions list`);
  const names = found.slice(0, 5).map((folder) => basename(folder));
  throw new SessionError(
    `"${id}" matches ${found.length} sessions: give more of the id: ${names.join(", ")}`,
  );
}

/** Returns the session of a sub-agent with exactly this id; it lies in the folder of the one that delegated. */
function delegateFolder(root: string, id: string): string | undefined {
  const all = sessionFolders(root).flatMap((folder) => sessionFolders(join(folder, "delegates")));
  return all.find((folder) => basename(folder) === id);
}

/** Returns the session with exactly this name, preferring the current folder. Throws when there are several. */
function namedSession(root: string, cwd: string | undefined, wanted: string): string | undefined {
  const called = onOneLine(wanted);
  if (called === "") return undefined;
  const all = listSessions(root).filter(({ name }) => name === called);
  const here = cwd === undefined ? [] : all.filter((session) => realOf(session.cwd) === realOf(cwd));
  const found = here.length > 0 ? here : all;
  if (found.length <= 1) return found[0]?.folder;
  const ids = found.slice(0, 5).map(({ id }) => id);
  throw new SessionError(
    `${found.length} sessions are called "${called}": choose one by its id: ${ids.join(", ")}`,
  );
}

/** Returns the folders of the sessions that this one was branched from, nearest first, as far as they are stored. */
export function ancestorFolders(folder: string, parent: string | undefined): string[] {
  const found: string[] = [];
  for (let id = parent; id !== undefined && found.length < mostAncestors; ) {
    const candidate = join(dirname(folder), id);
    found.push(candidate);
    id = firstEvent(headOf(logFile(candidate)))?.parent;
  }
  return found;
}

const mostAncestors = 100;
/** Bytes that hold the first line of a log: the system prompt and the tools. */
const firstLineBytes = 1024 * 1024;

function headOf(file: string): Buffer {
  try {
    const fd = openSync(file, "r");
    try {
      const head = Buffer.alloc(firstLineBytes);
      return head.subarray(0, readSync(fd, head, 0, firstLineBytes, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/** Returns the folders of all sessions, or of those of `cwd`. */
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

/** Summarises one session; undefined when its beginning cannot be read. */
export function sessionAt(folder: string): SessionSummary | undefined {
  return summary(folder, changedAt(folder));
}

/** Parses a few lines of the log and only counts the others, so that a listing stays quick over large sessions. */
function summary(folder: string, changed: number): SessionSummary | undefined {
  const bytes = readOrNothing(logFile(folder));
  const first = firstEvent(bytes);
  if (!first) return undefined;
  const { cwd, at, model } = first;
  return { id: basename(folder), folder, cwd, started: at, changed, ...factsIn(bytes, model.prices) };
}

function firstEvent(bytes: Buffer): EventOf<"session_started"> | undefined {
  const end = bytes.indexOf(10);
  const first = parseLine(bytes.subarray(0, end < 0 ? bytes.length : end)) as LogEvent | undefined;
  return first?.type === "session_started" ? first : undefined;
}

const counted =
  /^\{"seq":\d+,"at":\d+,"type":"(user_message|session_named|model_changed|assistant_message|summary_call|delegate_called|side_call)"/;

const billed = new Set(["assistant_message", "summary_call", "delegate_called", "side_call"]);

function factsIn(bytes: Buffer, first: Prices): Pick<SessionSummary, "turns" | "title" | "name" | "cost"> {
  let [turns, title, name, cost, prices] = [0, "", "", 0, first];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    const head = bytes.toString("latin1", start, Math.min(end, start + 80));
    const type = counted.exec(head)?.[1];
    if (type === "user_message") {
      turns += 1;
      title ||= titleOf(bytes.subarray(start, end));
    }
    if (type === "session_named") name = nameOf(bytes.subarray(start, end));
    if (type === "model_changed") prices = pricesOf(bytes.subarray(start, end)) ?? prices;
    if (type !== undefined && billed.has(type)) cost += costIn(bytes.subarray(start, end), prices);
    start = end + 1;
  }
  return { turns, title, cost, ...(name ? { name } : {}) };
}

function pricesOf(line: Buffer): Prices | undefined {
  const event = parseLine(line) as LogEvent | undefined;
  return event?.type === "model_changed" ? event.model.prices : undefined;
}

/** Returns the cost of a reply in dollars. Only its usage is parsed, which follows the model's text. */
function costIn(line: Buffer, prices: Prices | undefined): number {
  const from = line.lastIndexOf('"usage":{') + '"usage":'.length;
  const text = line.toString("utf8", from, line.indexOf("}", from) + 1);
  try {
    const cost = costOf(JSON.parse(text) as Usage, prices as Prices);
    return Number.isFinite(cost) ? cost : 0;
  } catch {
    return 0;
  }
}

function titleOf(line: Buffer): string {
  const event = parseLine(line) as LogEvent | undefined;
  if (event?.type !== "user_message") return "";
  const text = event.content.map((block: UserBlock) => (block.type === "text" ? block.text : "[image]"));
  // A command that the user ran in the shell is stored with its output.
  const words = onOneLine(event.shell ? `!${event.shell.command.split("\n", 1)[0]}` : text.join(" "));
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
