/** `sawtooth undo`: reverts a session's file changes, and lists its snapshots. */

import { relative } from "node:path";
import { asReminder } from "../../context/reminders/wording.ts";
import { plural } from "../../context/report/amounts.ts";
import { UsageError } from "../../core/errors.ts";
import type { EventLog } from "../../core/ports.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import type { FileChange, SnapshotRow, Snapshots, Undone } from "../../core/undo-port.ts";
import { undoNotice } from "../../core/undo-port.ts";
import type { FlagsOf } from "../arguments/options.ts";

/** A stored session, opened with its lock held. */
export type UndoSession = { id: string; cwd: string; log: EventLog; snapshots: Snapshots; close(): void };

/**
 * Runs the command. `open`: by a prefix of the id; without one, the newest session of this folder that wrote. Throws
 * `SessionError`.
 */
export async function runUndo(
  [id, ...rest]: readonly string[],
  { list, to, redo }: FlagsOf<"undo">,
  open: (id: string | undefined) => Promise<UndoSession>,
): Promise<{ text: string; exitCode: number }> {
  if (rest.length > 0) throw new UsageError(`undo takes one session; unexpected: ${rest[0]}`);
  if (redo && to !== undefined) throw new UsageError("--redo and --to cannot be combined");
  const session = await open(id);
  const { snapshots, log, cwd } = session;
  try {
    if (list)
      return {
        text: snapshotsText(session.id, await snapshots.list(), {
          cwd,
          command: "sawtooth undo --to <number>",
        }),
        exitCode: 0,
      };
    const undone = await snapshots.undo({ ...(to === undefined ? {} : { to }), ...(redo ? { redo } : {}) });
    if (!undone) return { text: nothingText(session.id, { to, redo }), exitCode: to === undefined ? 0 : 2 };
    // Otherwise the model would assume that its changes still stand.
    if (undone.files.length > 0)
      log.append({ type: "reminder", channel: "logged", text: asReminder(undoNotice(undone)) });
    return {
      text: undoneText(undone, { cwd, command: `sawtooth undo --to ${undone.before}` }),
      exitCode: undone.lost.length > 0 ? 1 : 0,
    };
  } finally {
    await snapshots.close();
    session.close();
  }
}

function nothingText(id: string, { to, redo }: { to: number | undefined; redo: boolean }): string {
  if (to !== undefined) return `session ${id} has no snapshot ${to}: list them with sawtooth undo --list\n`;
  return redo ? `no undo to revert in session ${id}\n` : `nothing to undo in session ${id}\n`;
}

/** The folder that paths are relative to, and the command to type next. */
type TextContext = { cwd: string; command: string };

/** Formats one line a snapshot, with the files that the step changed. Pure. */
export function snapshotsText(
  id: string,
  rows: readonly SnapshotRow[],
  { cwd, command }: TextContext,
): string {
  if (rows.length === 0) return `no snapshots of session ${id}\n`;
  const turns = [...new Set(rows.map(({ turn }) => turn))];
  const lines = rows.flatMap(({ n, at, turn, label, kind, files }) => [
    `${String(n).padStart(4)}  ${clockTime(at)}  turn ${turns.indexOf(turn) + 1}  ${kind === "undo" ? "" : "before "}${cleanLine(label).slice(0, 60)}`,
    ...files.slice(0, 8).map((file) => `      ${marks[file.status]} ${shown(file.path, cwd)}`),
    ...(files.length > 8 ? [`      … and ${files.length - 8} more`] : []),
  ]);
  return `${[`Snapshots of session ${id}; restore one with ${command}:`, ...lines].join("\n")}\n`;
}

const marks: Record<FileChange["status"], string> = { added: "+", changed: "~", removed: "-" };
const words: Record<FileChange["status"], string> = {
  added: "brought back",
  changed: "restored",
  removed: "removed",
};

/** Reports an undo to the user. Pure. */
export function undoneText(
  { to, files, copies, lost, notes }: Undone,
  { cwd, command }: TextContext,
): string {
  const count = plural(files.length, "file");
  const chapters = [
    files.length === 0 && lost.length === 0
      ? [`Nothing to do: all files already match snapshot ${to}.`]
      : [
          `${count} restored to snapshot ${to}:`,
          ...files.map(({ path, status }) => `  ${words[status].padEnd(12)}  ${shown(path, cwd)}`),
        ],
    copies.length === 0 ? [] : ["These files were also changed outside the session; copies of that state:"],
    copies.map(({ path, copy }) => `  ${shown(path, cwd)}: ${cleanLine(copy)}`),
    lost.length === 0 ? [] : ["Could not be restored:"],
    lost.map(({ path, why }) => `  ${shown(path, cwd)}: ${why}`),
    notes,
    [`To revert this: ${command}`],
  ];
  return `${chapters.flat().join("\n")}\n`;
}

/** Formats local time with the date, as a session can be of any day. */
function clockTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace("T", " ");
}

function shown(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return cleanLine(near.startsWith("../../") ? path : near);
}
