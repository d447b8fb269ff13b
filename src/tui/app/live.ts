/** The live area as sections of rows: what is under way, what waits, the editor and the status. Pure. */

import { formatDuration, plural } from "../../context/report/amounts.ts";
import { statusRows } from "../blocks/status.ts";
import { taskRows } from "../blocks/tasks.ts";
import { callRow } from "../blocks/tool-rows.ts";
import { tailRows } from "../blocks/transcript.ts";
import { dialogRows } from "../dialogs/dialog-view.ts";
import { layOut } from "../input/editor.ts";
import { promptColumns } from "../input/on-key.ts";
import { gist } from "../rows/markdown.ts";
import { type Caret, cut, cutRow, type Row, type Span, safe, width } from "../rows/rows.ts";
import { aroundOf, type RunningCall, type State } from "./state.ts";
import { offerRows, takenRows } from "./terminal-rows.ts";

/** From top to bottom; together fewer rows than the window has. */
export type Live = {
  tail: Row[];
  calls: Row[];
  tasks: Row[];
  queue: Row[];
  activity: Row[];
  dialog: Row[];
  editor: Row[];
  completion: Row[];
  status: Row[];
  caret: Caret;
};

/** What takes the place of the editor: a call that is looked at, or a list to choose from. */
export type Overlay = { rows: Row[]; caret?: Caret };

/** The overlay where there is no session yet. */
export function aloneOf({ rows, caret = { row: 0, column: 0 } }: Overlay): Live {
  const none = {
    tail: [],
    calls: [],
    tasks: [],
    queue: [],
    activity: [],
    editor: [],
    completion: [],
    status: [],
  };
  return { ...none, dialog: rows, caret };
}

/** `now`: milliseconds since 1970. */
export function liveOf(state: State, now: number, overlay?: Overlay): Live {
  const { size, asked } = state;
  const around = aroundOf(state);
  let left = Math.max(2, size.rows - 1);
  const take = (rows: Row[], most: number): Row[] => {
    const room = Math.max(0, Math.min(left, most));
    const taken = room === 0 ? [] : rows.slice(-room);
    left -= taken.length;
    return taken;
  };
  const spaced = size.rows >= 16;
  const written = editorRows(state, Math.max(1, Math.min(left - 1, Math.floor(size.rows / 2))));
  const taken = state.terminal?.taken && takenRows(state.terminal, size.columns, Math.max(3, left - 4));
  const hidden = taken || overlay !== undefined || (asked.length > 0 && state.editor.text === "");
  const editor = hidden ? [] : take(written.rows, editorRoom(state, left));
  const status = take(statusOf(state), statusRoom(size.rows, left));
  const question = taken || (asked[0] && dialogRows(asked[0], around, left));
  const open: Overlay | undefined = overlay ?? (question || undefined);
  const dialog = take(open?.rows ?? [], left);
  const rest = spaced && hidden && left > 8 ? take([[]], 1) : [];
  const completion = take(completionRows(state, Math.min(8, left)), 8);
  const activity = take(withGap(activityRows(state, now), spaced), 2);
  const queue = take(queueRows(state), 3);
  const third = Math.max(1, Math.floor(size.rows / 3));
  const waiting = state.terminal ? offerRows(state.terminal, size.columns) : [];
  const offered = take(withGap(waiting, spaced), Math.max(2, third));
  const called = take(withGap(callRows(state, now, Math.min(left, third) - Number(spaced)), spaced), third);
  const calls = [...called, ...offered];
  const tail = take(tailRows(state.transcript, around), third);
  const room = overlay ? 0 : left > 12 ? 8 : left - 2;
  const panel = { columns: size.columns, working: state.busy !== undefined, room: room - Number(spaced) };
  const tasks = take(withGap(taskRows(state.tasks, panel), spaced), room);
  // The lines of one answer follow each other.
  const goesOn = tail.length > 0 && state.transcript.last === "text";
  const gap: Row[] = spaced && left > 0 && !goesOn ? [[]] : [];
  const above = [...gap, ...tail, ...calls, ...tasks, ...queue, ...activity].length;
  const last = above + dialog.length + rest.length + editor.length + completion.length + status.length - 1;
  const caret = caretIn(open, written.caret, { above, dialog: dialog.length, last, columns: size.columns });
  return {
    tail: [...gap, ...tail],
    calls,
    tasks,
    queue,
    activity,
    dialog: [...dialog, ...rest],
    editor,
    completion,
    status,
    caret,
  };
}

/** A question keeps room for itself above what is being written. */
function editorRoom({ asked }: State, left: number): number {
  return asked.length > 0 ? Math.max(1, left - 4) : left;
}

function statusRoom(rows: number, left: number): number {
  if (rows >= 12) return 2;
  return left > 2 ? 1 : 0;
}

/** In what is open, when it has a place for it, else in the editor. `dialog`: rows that are shown of what is open. */
function caretIn(
  open: Overlay | undefined,
  written: Caret,
  { above, dialog, last, columns }: { above: number; dialog: number; last: number; columns: number },
): Caret {
  const inside = dialog > 0 ? open?.caret : undefined;
  const at = inside ?? written;
  const first = above + dialog - (inside ? (open?.rows.length ?? 0) : 0);
  return {
    row: Math.max(0, Math.min(first + at.row, last)),
    column: Math.min(at.column, columns - 1),
  };
}

function withGap(rows: Row[], spaced: boolean): Row[] {
  return rows.length > 0 && spaced ? [...rows, []] : rows;
}

/** The part of the editor around the cursor, at most `most` rows. */
function editorRows(state: State, most: number): { rows: Row[]; caret: Caret } {
  const { editor, size, search, recall } = state;
  if (search) {
    const found = search.at === undefined ? "" : (recall.items[search.at] ?? "");
    const label = `  search: ${safe(search.query)}`;
    const row: Row = [
      { text: label, tone: "accent" },
      { text: `  ${gist(found, Math.max(1, size.columns - width(label) - 2))}` },
    ];
    return {
      rows: [cutRow(row, size.columns)],
      caret: { row: 0, column: Math.min(width(label), size.columns - 1) },
    };
  }
  const { rows, caret } = layOut(editor, size.columns - promptColumns);
  const first = Math.min(Math.max(0, caret.row - most + 1), Math.max(0, rows.length - most));
  const shown = rows
    .slice(first, first + most)
    .map(({ text }, index): Row => [prompt(state, first + index), { text }]);
  if (editor.text === "") shown[0] = [prompt(state, 0), { text: hintOf(state), tone: "dim" }];
  return {
    rows: shown.map((row) => cutRow(row, size.columns)),
    caret: { row: caret.row - first, column: caret.column + promptColumns },
  };
}

function prompt({ editor }: State, row: number): Span {
  return row > 0 ? { text: "  " } : { text: editor.text.startsWith("!") ? "! " : "› ", tone: "accent" };
}

function hintOf({ notice, busy, size }: State): string {
  if (notice) return notice;
  if (size.columns < 60) return "";
  return busy ? "type to steer it" : "what to do?  / commands  @ files  ! shell";
}

function statusOf(state: State): Row[] {
  const { facts, mode, place, size, notice, editor } = state;
  const rows = statusRows(facts, mode, { cwd: place.shortCwd, branch: place.branch }, size.columns - 2);
  const indented = rows.map((row): Row => [{ text: "  " }, ...row]);
  return notice && editor.text !== ""
    ? [[{ text: cut(`  ${notice}`, size.columns), tone: "strong" }], ...indented.slice(1)]
    : indented;
}

/** As many as there is room for, the chosen one among them; the last row says how many there are in all. */
function completionRows({ completion, size }: State, room: number): Row[] {
  if (!completion) return [];
  const { items, chosen, kind } = completion;
  const name = Math.max(...items.map(({ text }) => text.length)) + 2;
  const rowOf = ({ text, note }: (typeof items)[number], index: number): Row => {
    const label = kind === "command" ? `/${text}`.padEnd(name + 1) : text;
    return cutRow(
      [
        { text: index === chosen ? "  ❯ " : "    ", tone: "accent" },
        { text: safe(label), ...(index === chosen ? { tone: "strong" as const } : {}) },
        { text: note, tone: "dim" },
      ],
      size.columns,
    );
  };
  const rows = items.map(rowOf);
  if (rows.length <= room || room < 2) return rows.slice(Math.max(0, chosen - room + 1)).slice(0, room);
  const shown = room - 1;
  const first = Math.min(Math.max(0, chosen - Math.floor(shown / 2)), rows.length - shown);
  return [
    ...rows.slice(first, first + shown),
    [{ text: `    ${chosen + 1} of ${rows.length}`, tone: "dim" }],
  ];
}

function queueRows({ queue, size }: State): Row[] {
  return queue.map(
    (text): Row => [
      { text: cut(`  queued: ${safe(text.replaceAll("\n", " ⏎ "))}`, size.columns), tone: "dim" },
    ],
  );
}

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** Milliseconds that a frame of the spinner stands. */
export const spinnerMs = 400;

function activityRows(state: State, now: number): Row[] {
  const { busy, asked, size, terminal } = state;
  if (!busy || asked.length > 0 || terminal?.taken) return [];
  const seconds = Math.floor((now - busy.since) / 1000);
  const glyph = frames[Math.floor(now / spinnerMs) % frames.length] ?? "";
  const time = seconds < 90 ? ` · ${seconds} s` : ` · ${formatDuration(1000 * seconds)}`;
  // Two counts of seconds in one row would be one too many.
  const since = state.doing.type === "retrying" ? "" : time;
  const text = ` ${doingText(state, now)}${since}${busy.stopping ? "" : " · Esc interrupts"}`;
  return [
    [
      { text: `  ${glyph}`, tone: "accent" },
      { text: cut(text, size.columns - 3), tone: "dim" },
    ],
  ];
}

function doingText({ doing, busy, running }: State, now: number): string {
  if (busy?.stopping) return "Stopping";
  if (running.length > 0)
    return running.length === 1 ? "Running" : `Running ${plural(running.length, "call")}`;
  switch (doing.type) {
    case "waiting":
      return busy?.what ?? "Waiting for the model";
    case "thinking":
      return "Thinking";
    case "writing":
      return "Writing";
    case "calling":
      return "Writing a call";
    case "retrying":
      return `Trying again in ${Math.max(0, Math.ceil((doing.until - now) / 1000))} s: ${doing.why}`;
  }
}

const shownOutput = 6;

/** The calls first, then the ends of what they print, as far as there is room. */
function callRows(state: State, now: number, room: number): Row[] {
  const around = aroundOf(state);
  const { running } = state;
  const heads = running.length <= room ? running : running.slice(0, Math.max(1, room - 1));
  const more = running.length - heads.length;
  const each = Math.floor(Math.max(0, room - running.length) / Math.max(1, running.length));
  const output = (one: RunningCall): Row[] =>
    each === 0 || (state.terminal && runsOnTerminal(one)) ? [] : outputRows(one, around.columns).slice(-each);
  return [
    ...heads.flatMap((one, index) => [
      callRow({ text: index === 0 ? "●" : "○", tone: "accent" }, one.call, elapsed(one, now), around),
      ...output(one),
    ]),
    ...(more > 0 ? [[{ text: `    … ${plural(more, "more call")}`, tone: "dim" as const }]] : []),
  ];
}

/** Then its terminal shows its output, where that is shown. */
function runsOnTerminal({ call }: RunningCall): boolean {
  return (call.input as { tty?: unknown }).tty === true;
}

function elapsed({ since }: RunningCall, now: number): string {
  return now - since < 2000 ? "" : formatDuration(now - since);
}

function outputRows({ output }: RunningCall, columns: number): Row[] {
  if (output.trim() === "") return [];
  return output
    .trimEnd()
    .split("\n")
    .slice(-shownOutput)
    .map((line): Row => [{ text: `    ${cut(safe(line), columns - 4)}`, tone: "dim" }]);
}
