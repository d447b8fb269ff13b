/**
 * Takes snapshots of a session's folders before each step that writes, and undoes changes by them. They lie in the
 * session's folder and never touch the user's git; scanning 5,000 unchanged files takes about 10 ms.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../core/ports.ts";
import type { SnapshotRow, Snapshots, UndoChoice, Undone } from "../core/undo-port.ts";
import { isErrno, SessionError } from "../session/errors.ts";
import { changesOf } from "./history.ts";
import { openRecorder, type Recorder } from "./recorder.ts";
import { fileChange, undo } from "./undo.ts";

/** Bytes that are read in advance. */
const mostAhead = 64 * 1024 * 1024;

export type SnapshotOptions = {
  /** Absolute; created when needed. */
  folder: string;
  /** Absolute folders to snapshot, links resolved; those of earlier snapshots are included as well. */
  roots: readonly string[];
  /** Absolute folders to leave out: where sessions are stored. */
  except: readonly string[];
  clock: Clock;
  warn(text: string): void;
};

/** Opens the snapshots of a session. Nothing is read or written before first use. */
export function openSnapshots(options: SnapshotOptions): Snapshots {
  const { clock, warn } = options;
  let recorder: Recorder | undefined;
  let state: "working" | "failed" | "closed" = "working";
  let lastStep: number | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const open = (): Recorder => {
    recorder ??= openRecorder(options);
    return recorder;
  };
  const opened = (): Recorder | undefined => (hasSnapshots(options.folder) ? open() : recorder);

  /** Runs one piece of work at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  const quietly = (work: () => Promise<void>): Promise<void> =>
    inTurn(async () => {
      if (state !== "working") return;
      try {
        await work();
      } catch (error) {
        state = "failed";
        warn(`no more snapshots for undo: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
  const settle = async (): Promise<void> => {
    const before = recorder?.journal.snapshots.at(-1);
    if (!recorder || !before || before.kind === "end") return;
    const { turn } = before;
    recorder.append(await recorder.draft({ at: clock(), kind: "end", turn, label: "" }));
  };

  return {
    prepare() {
      void quietly(async () => {
        await open().draft({ at: clock(), kind: "end", turn: 0, label: "" }, [], mostAhead);
      });
    },
    take: ({ turn, step, label, named }) =>
      quietly(async () => {
        const { append, covers, draft } = open();
        if (step === lastStep && named.every(covers)) return;
        append(await draft({ at: clock(), kind: "step", turn, label }, named));
        lastStep = step;
      }),
    settle: () => quietly(settle),
    list: () => inTurn(async () => listed(opened(), clock())),
    undo: (choice = {}) => inTurn(async () => undone(opened(), choice, options)),
    close: () =>
      inTurn(async () => {
        if (state === "closed") return;
        if (state === "working") await settle().catch(() => {});
        state = "closed";
        recorder?.journal.close();
      }),
  };
}

function hasSnapshots(folder: string): boolean {
  return existsSync(join(folder, "journal.jsonl"));
}

async function listed(recorder: Recorder | undefined, at: number): Promise<SnapshotRow[]> {
  if (!recorder) return [];
  const { snapshots } = recorder.journal;
  const now = await recorder.draft({ at, kind: "end", turn: 0, label: "" });
  const changes = changesOf([...snapshots, now]);
  return snapshots.flatMap(({ n, at, turn, label, kind }) =>
    kind === "end" ? [] : [{ n, at, turn, label, kind, files: (changes[n + 1] ?? []).flatMap(fileChange) }],
  );
}

async function undone(
  recorder: Recorder | undefined,
  choice: UndoChoice,
  { folder, clock }: SnapshotOptions,
): Promise<Undone | undefined> {
  try {
    return recorder && (await undo(recorder, choice, { at: clock(), folder: join(folder, "..", "undone") }));
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new SessionError(`cannot undo: ${error.message}: nothing more was changed`);
  }
}
