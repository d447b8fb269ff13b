/** The terminal of a waiting command in the live area: what it shows, and how to take it over or give it back. Pure. */

import type {
  TakenTerminal,
  TerminalSize,
  TerminalView,
  WaitingCommand,
} from "../../core/waiting-command.ts";
import type { DrawingFilter } from "../drawing-filter.ts";
import { type Caret, cut, type Row, type Size, safe } from "../rows/rows.ts";

/** `taken`: the person's keys go to the command. */
export type ShownTerminal = { command: string; view: TerminalView; taken: boolean };

/** `whole`: the program has the whole terminal. `refresh`: a look at its screen is due. */
export type Attended = {
  port: WaitingCommand;
  taken?: TakenTerminal | undefined;
  whole: boolean;
  /** What it prints, without what does more than draw. */
  filter: DrawingFilter;
  refresh?: NodeJS.Timeout | undefined;
};

const indent = 2;
const offeredRows = 4;

/** The size that the terminal gets while its screen is a part of ours. */
export function takenSize({ columns, rows }: Size): TerminalSize {
  return { columns: Math.max(10, columns - indent), rows: Math.max(2, Math.min(rows - 8, 20)) };
}

/** The offer, above the editor. */
export function offerRows({ command, view, taken }: ShownTerminal, columns: number): Row[] {
  if (taken) return [];
  const head = `  ? waits for input on its terminal: ${safe(command.trim().replaceAll(/\s*\n\s*/g, " ⏎ "))}`;
  return [
    [{ text: cut(head, columns), tone: "warn" }],
    ...view.rows
      .slice(-offeredRows)
      .map((text): Row => [{ text: cut(`    ${safe(text)}`, columns), tone: "dim" }]),
    [{ text: cut("    Ctrl-] lets you type there; what you type is not kept", columns), tone: "accent" }],
  ];
}

/** The taken terminal in the place of the editor, at most `most` rows, and where its cursor stands in them. */
export function takenRows(
  { view }: ShownTerminal,
  columns: number,
  most: number,
): { rows: Row[]; caret: Caret } {
  const { cursor } = view;
  const all = Array.from(
    { length: Math.max(view.rows.length, cursor.row + 1) },
    (_, at) => view.rows[at] ?? "",
  );
  const room = Math.max(1, most - 1);
  const last = Math.max(cursor.row + 1, Math.min(all.length, room));
  const first = Math.max(0, last - room);
  const shown = all.slice(first, last);
  return {
    rows: [
      [{ text: cut("  your keys go to the command; Ctrl-] takes them back", columns), tone: "warn" }],
      ...shown.map((text): Row => [{ text: cut(`  ${safe(text)}`, columns) }]),
    ],
    caret: { row: 1 + cursor.row - first, column: indent + cursor.column },
  };
}
