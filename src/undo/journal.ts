/** Snapshots on disk: the contents of files in one file, each once, and a journal of the changes between snapshots. */

import { hash as hashOf } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { makeFolders } from "../disk/make-folders.ts";
import { replaceFile } from "../disk/replace-file.ts";
import { isErrno } from "../session/errors.ts";
import type { Fork } from "../session/store.ts";
import { changesOf, type Entry, type FileSnapshot } from "./history.ts";

export type Journal = {
  snapshots: readonly FileSnapshot[];
  /** Returns the bytes of all contents. */
  size(): number;
  append(snapshot: FileSnapshot): void;
  /** Stores the bytes once. */
  store(bytes: Buffer): { hash: string; at: number };
  /** Returns the undamaged bytes of a file; undefined when they are not stored. */
  bytesOf(hash: string, size: number): Buffer | undefined;
  /** Drops the contents of files that no snapshot saw change; without any change everything is removed. */
  close(): void;
};

/** Opens or creates the journal in `folder`. Files 0600 in a folder 0700. */
export function openJournal(folder: string): Journal {
  makeFolders(folder, 0o700);
  const file = join(folder, "journal.jsonl");
  const { generation, snapshots, damaged } = readJournal(file);
  if (damaged) writeJournal(file, generation, snapshots);
  const contents = openContents(contentsFile(folder, generation));
  for (const entry of entriesOf(snapshots)) contents.know(entry);
  return {
    snapshots,
    size: () => contents.size(),
    append(snapshot) {
      appendFileSync(file, `${JSON.stringify(snapshot)}\n`);
      snapshots.push(snapshot);
    },
    store: (bytes) => contents.store(bytes),
    bytesOf: (hash, size) => contents.read(hash, size),
    close() {
      const changed = changesOf(snapshots).flatMap((changes) => changes.map(({ path }) => path));
      if (changed.length > 0) compact(folder, { generation, snapshots, contents }, new Set(changed));
      contents.close();
      if (changed.length === 0) rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Branch = Fork & { warn(text: string): void };

/**
 * Copies the snapshots of a session to a branch of it, which can then undo its file changes. Turns that the branch
 * lacks count as a turn of its last shared event, so that they are never mistaken for turns that get their numbers in
 * the branch.
 */
export function branchSnapshots({ from, to, lastTurn, warn }: Branch): void {
  const folder = join(to, "snapshots");
  try {
    copyJournal(join(from, "snapshots"), folder, (snapshot) => ({
      ...snapshot,
      turn: Math.min(snapshot.turn, lastTurn),
    }));
  } catch (error) {
    if (!isErrno(error)) throw error;
    rmSync(folder, { recursive: true, force: true });
    warn(`this branch cannot undo changes made before it: ${error.message}`);
  }
}

/**
 * Copies the snapshots of `from` to `to`, each as `changed` returns it; nothing when there are none. Throws when the
 * disk refuses.
 */
function copyJournal(from: string, to: string, changed: (snapshot: FileSnapshot) => FileSnapshot): void {
  const { generation, snapshots } = readJournal(join(from, "journal.jsonl"));
  if (snapshots.length === 0) return;
  makeFolders(to, 0o700);
  copyFileSync(contentsFile(from, generation), contentsFile(to, generation), constants.COPYFILE_FICLONE);
  writeJournal(join(to, "journal.jsonl"), generation, snapshots.map(changed));
}

type Contents = ReturnType<typeof openContents>;
type Stored = { generation: number; snapshots: FileSnapshot[]; contents: Contents };

/** Rewrites everything beside the old files; the journal, which names its contents, comes last and decides. */
function compact(
  folder: string,
  { generation, snapshots, contents }: Stored,
  changed: ReadonlySet<string>,
): void {
  const compacted = openContents(contentsFile(folder, generation + 1));
  for (const { changes } of snapshots) {
    for (const [path, entry] of Object.entries(changes)) {
      if (entry?.type !== "file") continue;
      const bytes = changed.has(path) ? contents.read(entry.hash, entry.size) : undefined;
      delete entry.at;
      if (bytes) entry.at = compacted.store(bytes).at;
    }
  }
  compacted.close();
  writeJournal(join(folder, "journal.jsonl"), generation + 1, snapshots);
  rmSync(contentsFile(folder, generation), { force: true });
}

function contentsFile(folder: string, generation: number): string {
  return join(folder, `contents-${generation}`);
}

function entriesOf(snapshots: readonly FileSnapshot[]): Entry[] {
  return snapshots.flatMap(({ changes }) => Object.values(changes)).filter((entry) => entry !== null);
}

/** Reads the journal. A line that was cut while it was written, and all after it, are ignored. */
function readJournal(file: string): { generation: number; snapshots: FileSnapshot[]; damaged: boolean } {
  const lines = textOf(file).split("\n");
  const [head, ...rest] = lines.slice(0, -1).map(parsed) as [
    { generation?: number }?,
    ...(FileSnapshot | undefined)[],
  ];
  if (head?.generation === undefined) return { generation: 0, snapshots: [], damaged: true };
  const bad = rest.findIndex((snapshot, index) => snapshot?.n !== index);
  const snapshots = (bad < 0 ? rest : rest.slice(0, bad)) as FileSnapshot[];
  return { generation: head.generation, snapshots, damaged: bad >= 0 || lines.at(-1) !== "" };
}

function writeJournal(file: string, generation: number, snapshots: readonly FileSnapshot[]): void {
  const lines = [{ generation }, ...snapshots].map((line) => `${JSON.stringify(line)}\n`);
  replaceFile(file, lines.join(""));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function openContents(file: string) {
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const offsets = new Map<string, number>();
  let end = fstatSync(fd).size;
  return {
    size: () => end,
    /** Records that another file with the same bytes is already stored. */
    know(entry: Entry): void {
      if (entry.type === "file" && entry.at !== undefined) offsets.set(entry.hash, entry.at);
    },
    store(bytes: Buffer): { hash: string; at: number } {
      const hash = hashOf("sha256", bytes);
      const at = offsets.get(hash) ?? end;
      if (at === end) {
        writeWhole(fd, bytes, at);
        end += bytes.length;
        offsets.set(hash, at);
      }
      return { hash, at };
    },
    read(hash: string, size: number): Buffer | undefined {
      const at = offsets.get(hash);
      if (at === undefined) return undefined;
      const bytes = Buffer.alloc(size);
      let got = 0;
      for (let read = -1; read !== 0 && got < size; got += read)
        read = readSync(fd, bytes, got, size - got, at + got);
      return hashOf("sha256", bytes) === hash ? bytes : undefined;
    },
    close: () => closeSync(fd),
  };
}

/** Writes all of the bytes, or none when the disk refuses. */
function writeWhole(fd: number, bytes: Buffer, at: number): void {
  try {
    for (let done = 0; done < bytes.length; )
      done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  } catch (error) {
    ftruncateSync(fd, at);
    throw error;
  }
}
