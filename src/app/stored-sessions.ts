/** The stored sessions: listed, read, and added up. */

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname } from "node:path";
import { storedRedactor } from "../config/env-files.ts";
import type { LogEvent } from "../core/events.ts";
import { spending } from "../core/questions.ts";
import { redactedValue } from "../core/secrets/redact.ts";
import { holderOf, inWords } from "../disk/claim.ts";
import { SessionError } from "../session/errors.ts";
import {
  findSession,
  listSessions,
  logFile,
  pageOfSessions,
  type SessionSummary,
  sessionAt,
  sessionFolders,
} from "../session/listing.ts";
import { readTail } from "../session/read.ts";
import { readSession, removeSession } from "../session/store.ts";
import type { Sessions, StoredSession } from "../tui/ports/sessions.ts";

/** Sessions that a list shows at most. */
const mostListed = 500;
/** Bytes of a log that hold the end of what was said. */
const tailBytes = 256 * 1024;

/** The sessions under `root`. `cwd`: the folder that counts as this one. `open`: id of the one that is no choice. */
export function sessionsUnder(root: string, cwd: string, open?: string): Sessions {
  const here = realpathSync(cwd);
  const stored = (summary: SessionSummary): StoredSession => ({
    ...summary,
    shortCwd: shortened(summary.cwd),
    openIn: summary.id === open ? undefined : openIn(summary.folder),
  });
  const folderOf = (id: string) => findSession({ root, cwd: here, id });
  return {
    list: (everywhere) =>
      hidden(listSessions(root, everywhere ? undefined : here, mostListed))
        .filter(({ id, turns, name }) => id !== open && (turns > 0 || name !== undefined))
        .map(stored),
    tail(id) {
      const folder = folderOf(id);
      const hide = storedRedactor(process.env, [sessionAt(folder)?.cwd ?? here]);
      return redactedValue(readTail(logFile(folder), tailBytes), hide);
    },
    find(which) {
      const folder = folderOf(which);
      const summary = sessionAt(folder);
      if (!summary) throw new SessionError(`session ${basename(folder)} cannot be read: choose another one`);
      if (!existsSync(summary.cwd))
        throw new SessionError(`the session's folder no longer exists: ${summary.cwd}`);
      return hidden([summary]).map(stored)[0] as StoredSession;
    },
  };
}

function openIn(folder: string): string | undefined {
  const holder = holderOf(folder);
  return holder && inWords(holder);
}

/** A folder as a person calls it. */
export function shortened(cwd: string): string {
  const home = process.env.HOME ?? homedir();
  return cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
}

/** The sessions with secrets redacted in what is shown of them. */
function hidden(summaries: readonly SessionSummary[]): SessionSummary[] {
  const hide = storedRedactor(process.env, [...new Set(summaries.map(({ cwd }) => cwd))]);
  return summaries.map(({ title, name, ...summary }) => ({
    ...summary,
    title: hide(title),
    ...(name === undefined ? {} : { name: hide(name) }),
  }));
}

/**
 * The events of a stored session, to be printed: secrets are redacted as far as they are known now. By its id, the
 * beginning of one or its name; without, the newest of this folder.
 */
export function storedEvents(root: string, id: string | undefined, warn: (text: string) => void) {
  const which = id ? { id } : { newest: true, cwd: process.cwd() };
  const { events } = readSession({ root, ...which, warn });
  const cwd = events[0]?.type === "session_started" ? events[0].cwd : process.cwd();
  return redactedValue(events, storedRedactor(process.env, [cwd]));
}

/** Newest first, with secrets redacted; of every folder without `cwd`. */
export function storedList(root: string, cwd: string | undefined): SessionSummary[] {
  return hidden(listSessions(root, cwd));
}

/** A page of the sessions that were spoken in, as `pageOfSessions` has them, with secrets redacted. */
export function storedPage(...page: Parameters<typeof pageOfSessions>): ReturnType<typeof pageOfSessions> {
  const { sessions, ...rest } = pageOfSessions(...page);
  return { sessions: hidden(sessions), ...rest };
}

/** Returns where the session with exactly this id works; undefined where there is none that can be read. */
export function storedPlace(root: string, id: string): string | undefined {
  const folder = storedFolder(root, id);
  return folder && sessionAt(folder)?.cwd;
}

function storedFolder(root: string, id: string): string | undefined {
  return sessionFolders(root).find((folder) => basename(folder) === id);
}

/** Removes the session with exactly this id. Throws `SessionLocked` while another process has it open. */
export async function removeStoredSession(root: string, id: string): Promise<void> {
  const folder = storedFolder(root, id);
  if (folder) await removeSession(folder);
}

/** The name of a session, or the first words of its conversation; "" before the first. */
export function storedTitle(folder: string): string {
  const summary = sessionAt(folder);
  const [shown] = summary ? hidden([summary]) : [];
  return shown?.name ?? shown?.title ?? "";
}

/** The model calls and dollars of all sessions under `root`, and the id of the first. */
export function spentIn(root: string): { turns: number; cost: number; sessionId: string | null } {
  const logs = sessionFolders(root).map((folder) => ({ folder, events: readable(folder) }));
  const all = logs.filter(({ events }) => events.length > 0).map(({ events }) => spending(events));
  return {
    turns: all.reduce((sum, { turns }) => sum + turns, 0),
    cost: all.reduce((sum, { cost }) => sum + cost, 0),
    sessionId: logs[0] ? basename(logs[0].folder) : null,
  };
}

/** Its writer may have been killed: no events when the log cannot be read. */
function readable(folder: string): readonly LogEvent[] {
  try {
    return readSession({ root: dirname(dirname(folder)), id: basename(folder), warn: () => {} }).events;
  } catch (error) {
    if (error instanceof SessionError) return [];
    throw error;
  }
}
