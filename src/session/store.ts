/** Opens sessions: new, stored, or branched from a stored one. Files 0600 in folders 0700. */

import { randomBytes } from "node:crypto";
import {
  constants,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { EventOf, LogEvent } from "../core/events.ts";
import type { Artifacts, Clock, EventLog } from "../core/ports.ts";
import { type Claim, claimFolder, holderOf } from "../disk/claim.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { artifactsIn } from "./artifacts.ts";
import { isErrno, SessionError, SessionLocked } from "./errors.ts";
import { findSession, logFile, type SessionChoice, slugOf } from "./listing.ts";
import { fileLog } from "./log.ts";
import { readLog, type StoredLog } from "./read.ts";

export type OpenSession = {
  id: string;
  /** Absolute. */
  folder: string;
  log: EventLog;
  artifacts: Artifacts;
  /** Releases the lock and removes a session that never got an event. Idempotent. */
  close(): void;
};

type Warn = (text: string) => void;
type Outside = { clock: Clock; warn: Warn };

/** Creates a session of `cwd`; when `root` cannot be written, in a private temp folder and with a warning. */
export function createSession(options: { root: string; cwd: string } & Outside): Promise<OpenSession> {
  return writable(resolve(options.root), options.warn, async (root) => {
    const folder = newFolder(root, options.cwd, options.clock());
    writeFileSync(logFile(folder), "", { flag: "wx", mode: 0o600 });
    return opened(folder, options, readLog);
  });
}

/** Opens a stored session to continue it. Throws `SessionError`, or `SessionLocked` when another process has it. */
export async function openSession(options: SessionChoice & Outside): Promise<OpenSession> {
  const stored = findSession({ ...options, root: resolve(options.root) });
  return writable(stored, options.warn, async (target) => {
    const folder = target === stored ? stored : copied(stored, target);
    return opened(folder, options, readResumable);
  });
}

function readResumable(file: string): StoredLog {
  const stored = readStarted(file);
  refuseDelegate(stored.start);
  return stored;
}

/** The two folders of a fork, and the seq of the last event that the new session shares with the old one. */
export type Fork = { from: string; to: string; lastTurn: number };

type ForkOptions = SessionChoice &
  Outside & {
    /** Number of events of the old session that the new one begins with; all by default. */
    events?: number | undefined;
    /** Copies everything else that belongs to a session. Not called while another process writes the old session. */
    copyState(fork: Fork): void;
  };

/** Opens a new session that begins with the events of a stored one. Throws `SessionError`. */
export async function forkSession(options: ForkOptions): Promise<OpenSession> {
  const source = readSession(options);
  refuseDelegate(source.start);
  return writable(resolve(options.root), options.warn, async (root) => {
    const folder = newFolder(root, source.start.cwd, options.clock());
    const start = { ...source.start, sessionId: basename(folder), folder, parent: source.id };
    const events = [start, ...source.events.slice(1)].slice(0, options.events);
    const lines = events.map((event) => `${JSON.stringify(event)}\n`);
    writeFileSync(logFile(folder), lines.join(""), { flag: "wx", mode: 0o600 });
    const lastTurn = events.at(-1)?.seq ?? 0;
    if (holderOf(source.folder) === undefined)
      options.copyState({ from: source.folder, to: folder, lastTurn });
    return opened(folder, options, readStarted);
  });
}

/** Throws `SessionError` for the session of a sub-agent, which is over with its call. */
function refuseDelegate({ sessionId, parent, delegate }: EventOf<"session_started">): void {
  if (delegate)
    throw new SessionError(
      `${sessionId} is a sub-agent of ${parent} and cannot go on: resume that session, or read this one with sawtooth report`,
    );
}

/** Reads a stored session without becoming its writer. Throws `SessionError`. */
export function readSession(options: SessionChoice & { warn: Warn }): {
  id: string;
  folder: string;
  start: EventOf<"session_started">;
  events: LogEvent[];
} {
  const folder = findSession({ ...options, root: resolve(options.root) });
  const { start, events, warnings } = readStarted(logFile(folder));
  for (const warning of warnings) options.warn(warning);
  return { id: basename(folder), folder, start, events };
}

/** Removes a stored session with everything in its folder. Throws `SessionLocked` while another process has it open. */
export async function removeSession(folder: string): Promise<void> {
  await claimed(folder, () => {});
  rmSync(folder, { recursive: true, force: true });
}

/** Runs `make` for `folder`, and for a private temp folder when the operating system refuses `folder`. */
async function writable<T>(folder: string, warn: Warn, make: (target: string) => Promise<T>): Promise<T> {
  try {
    return await make(folder);
  } catch (error) {
    if (!isErrno(error)) throw error;
    const elsewhere = mkdtempSync(join(tmpdir(), "sawtooth-sessions-"));
    const made = await make(elsewhere);
    warn(`cannot write to ${folder} (${error.code}): this session is kept in ${elsewhere}`);
    return made;
  }
}

async function opened(
  folder: string,
  { clock, warn }: Outside,
  read: (file: string) => StoredLog,
): Promise<OpenSession> {
  const id = basename(folder);
  const { release, isHeld } = await claimed(folder, warn);
  try {
    const { events, nextSeq, wholeBytes, unended, warnings } = read(logFile(folder));
    const fd = openSync(logFile(folder), constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
    // Removes an incomplete last line, so that the next event begins on a line of its own.
    ftruncateSync(fd, wholeBytes);
    const artifacts = artifactsIn(join(folder, "artifacts"), warn);
    for (const warning of warnings) warn(warning);
    const file = fileLog({ fd, events, nextSeq, unended, clock, warn, isOurs: () => isHeld(true) });
    return { id, folder, log: file.log, artifacts, close: closing(folder, file, release) };
  } catch (error) {
    release();
    throw error;
  }
}

/** Claims the folder of a session. Throws `SessionLocked` while another process has it. */
async function claimed(folder: string, warn: Warn): Promise<Claim> {
  const id = basename(folder);
  const claim = await claimFolder(folder, (host, ms) =>
    warn(`session ${id} was in use on ${host}: it is opened here if it stays silent for ${ms / 1000} s`),
  );
  if ("host" in claim) throw new SessionLocked(id, claim);
  return claim;
}

function closing(folder: string, file: ReturnType<typeof fileLog>, release: () => void): () => void {
  let closed = false;
  return () => {
    if (closed) return;
    closed = true;
    file.close();
    if (file.log.events().length === 0) rmSync(folder, { recursive: true, force: true });
    else release();
  };
}

function readStarted(file: string): StoredLog & { start: EventOf<"session_started"> } {
  try {
    const stored = readLog(file);
    const start = stored.events[0];
    if (start?.type === "session_started") return { ...stored, start };
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new SessionError(`cannot read ${file} (${error.code}): choose another session or start a new one`);
  }
  throw new SessionError(`the beginning of ${file} is damaged: choose another session or start a new one`);
}

/** Returns a new folder `<root>/<slug of cwd>/<id>`; ids sort by time (UTC). */
function newFolder(root: string, cwd: string, now: number): string {
  const [date, time] = new Date(now).toISOString().replace(/[-:]/g, "").split(/[T.]/);
  const parent = join(root, slugOf(cwd));
  makeFolders(parent, 0o700);
  const folder = join(parent, `${date}-${time}-${randomBytes(3).toString("hex")}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

function copied(stored: string, target: string): string {
  const folder = join(target, basename(join(stored, "..")), basename(stored));
  makeFolders(folder, 0o700);
  copyFileSync(logFile(stored), logFile(folder));
  return folder;
}
