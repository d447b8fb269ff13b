/**
 * Rows for the terminal of a waiting command in the live area: its screen, and how to take it over or give it back.
 * Pure.
 */

import type {
  TakenTerminal,
  TerminalSize,
  TerminalView,
  WaitingCommand,
} from "../../core/waiting-command.ts";
import type { TakenTerminalProps, TerminalOfferProps } from "../components/command-terminal.ts";
import type { DrawingFilter } from "../drawing-filter.ts";
import { type Caret, cut, type Size, safe } from "../rows/rows.ts";

/** The shown terminal. `taken`: the user's keys go to the command. */
export type ShownTerminal = { command: string; view: TerminalView; taken: boolean };

/** The state of a takeover. `whole`: the program has the whole terminal. `refresh`: its screen is due to be read. */
export type Attended = {
  port: WaitingCommand;
  taken?: TakenTerminal | undefined;
  whole: boolean;
  /** Filters its output down to drawing. */
  filter: DrawingFilter;
  refresh?: NodeJS.Timeout | undefined;
};

const indent = 2;
const offeredRows = 4;

/** Returns the size of the terminal while its screen is a part of ours. */
export function takenSize({ columns, rows }: Size): TerminalSize {
  return { columns: Math.max(10, columns - indent), rows: Math.max(2, Math.min(rows - 8, 20)) };
}

/** Returns the offer, above the editor, in at most `most` rows. */
export function offerView(
  { command, view }: ShownTerminal,
  columns: number,
  most: number,
): TerminalOfferProps {
  const lines = Math.max(0, Math.min(offeredRows, most - 2));
  return {
    command: safe(command.trim().replaceAll(/\s*\n\s*/g, " ⏎ ")),
    lines: lines === 0 ? [] : view.rows.slice(-lines).map((text) => cut(safe(text), columns)),
  };
}

/** Returns the taken terminal in place of the editor, in at most `most` rows, and its cursor in them. */
export function takenView(
  { view }: ShownTerminal,
  columns: number,
  most: number,
): TakenTerminalProps & { caret: Caret; height: number } {
  const { cursor } = view;
  const all = Array.from(
    { length: Math.max(view.rows.length, cursor.row + 1) },
    (_, at) => view.rows[at] ?? "",
  );
  const head = most > 1;
  const room = Math.max(1, most - Number(head));
  const last = Math.max(cursor.row + 1, Math.min(all.length, room));
  const first = Math.max(0, last - room);
  const lines = all.slice(first, last).map((text) => cut(safe(text), columns));
  const caret = { row: Number(head) + cursor.row - first, column: indent + cursor.column };
  return { head, lines, caret, height: lines.length + Number(head) };
}
