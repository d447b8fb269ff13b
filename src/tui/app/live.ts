/** Computes the live area as the props of its components, for a window of this height. Pure. */

import { formatDuration, plural } from "../../context/report/amounts.ts";
import { statusHeight } from "../blocks/status.ts";
import { taskListView } from "../blocks/tasks.ts";
import { tailRows } from "../blocks/transcript.ts";
import type { CallDetailsProps } from "../components/call-details.ts";
import type { TakenTerminalProps, TerminalOfferProps } from "../components/command-terminal.ts";
import type { CompletionMenuProps } from "../components/completion-menu.ts";
import type { HistorySearchProps, InputBoxProps } from "../components/input-box.ts";
import { type RunningCallsProps, runningCallsHeight, type ShownCall } from "../components/running-calls.ts";
import type { SpinnerProps } from "../components/spinner.ts";
import type { StatusLineProps } from "../components/status-line.ts";
import { type TaskListProps, taskListHeight } from "../components/task-list.ts";
import { type DialogView, dialogView } from "../dialogs/dialog-view.ts";
import type { PickerView } from "../dialogs/picker.ts";
import { layOut } from "../input/editor.ts";
import { promptColumns } from "../input/on-key.ts";
import { gist } from "../rows/markdown.ts";
import { type Caret, cut, type Row, safe, width } from "../rows/rows.ts";
import { type RunningCall, rowContextOf, type State } from "./state.ts";
import { offerView, takenView } from "./terminal-rows.ts";

/** The element shown in place of the input box. Only one that takes text or a choice has a caret. */
export type Open = { height: number; caret?: Caret } & (
  | { type: "dialog"; props: DialogView }
  | { type: "picker"; props: PickerView }
  | { type: "terminal"; props: TakenTerminalProps }
  | { type: "details"; props: CallDetailsProps }
);

/**
 * The live area from top to bottom, with the props of each component shown. Together fewer rows than the window has.
 */
export type LiveView = {
  columns: number;
  /** True while a turn runs: the spinner turns and times are counted. */
  running: boolean;
  /** Blank rows below each part. */
  gap: number;
  /** `above`: a blank row above it. */
  tail: { above: boolean; rows: readonly Row[] };
  calls?: RunningCallsProps | undefined;
  offer?: TerminalOfferProps | undefined;
  tasks?: TaskListProps | undefined;
  queue: readonly string[];
  spinner?: SpinnerProps | undefined;
  open?: Open | undefined;
  /** True for a blank row between the open element and the status. */
  rest: boolean;
  input?: InputBoxProps | undefined;
  search?: HistorySearchProps | undefined;
  completion?: CompletionMenuProps | undefined;
  status?: StatusLineProps | undefined;
  caret: Caret;
};

/** Returns the view of a picker where there is no session yet. */
export function pickerAlone(open: Open, columns: number): LiveView {
  const nothing = { running: false, gap: 0, tail: { above: false, rows: [] }, queue: [], rest: false };
  return { ...nothing, columns, open, caret: open.caret ?? { row: 0, column: 0 } };
}

/** Computes the live area. `now`: milliseconds since 1970. */
export function liveView(state: State, now: number, overlay?: Open): LiveView {
  const { size } = state;
  const gap = size.rows >= 16 ? 1 : 0;
  const below = lowerParts(state, overlay, gap);
  const above = upperParts(state, now, { left: below.left, gap, overlay: overlay !== undefined });
  const { left: _, height, caret, ...parts } = below;
  const at = caret.row + above.height;
  return {
    columns: size.columns,
    running: state.busy !== undefined,
    gap,
    ...above.parts,
    ...parts,
    caret: {
      row: Math.max(0, Math.min(at, above.height + height - 1)),
      column: Math.min(caret.column, size.columns - 1),
    },
  };
}

type Lower = Pick<LiveView, "open" | "rest" | "input" | "search" | "completion" | "status"> & {
  /** Rows left above, and rows taken; the caret is counted from the first of these. */
  left: number;
  height: number;
  caret: Caret;
};

/** Lays out the open element, the input box, the completion and the status, which get their rows first. */
function lowerParts(state: State, overlay: Open | undefined, gap: number): Lower {
  const { size, questions, terminal } = state;
  const all = Math.max(2, size.rows - 1);
  let left = all;
  const taken = terminal?.taken === true;
  const hidden = taken || overlay !== undefined || (questions.length > 0 && state.editor.text === "");
  const written = writtenIn(state, Math.max(1, Math.min(editorRoom(state, left), Math.floor(size.rows / 2))));
  const writtenRows = hidden ? 0 : written.height;
  left -= writtenRows;
  const status = statusOf(state, statusRoom(size.rows, left));
  left -= status?.rows ?? 0;
  const open = overlay ?? openIn(state, left);
  left -= open?.height ?? 0;
  const rest = gap > 0 && hidden && left > 8;
  if (rest) left -= 1;
  const completion = completionOf(state, Math.min(8, left));
  left -= completion ? completion.choices.length + Number(completion.position !== undefined) : 0;
  const above = (open?.height ?? 0) + Number(rest);
  return {
    open,
    rest,
    ...(hidden ? {} : { input: written.input, search: written.search }),
    completion,
    status,
    left,
    height: all - left,
    caret: open?.caret ?? { row: above + written.caret.row, column: written.caret.column },
  };
}

/** Returns the terminal that was taken over, else the first question. */
function openIn(state: State, most: number): Open | undefined {
  const { questions, terminal, size } = state;
  if (terminal?.taken) {
    const { caret, height, ...props } = takenView(terminal, size.columns, most);
    return { type: "terminal", props, caret, height };
  }
  if (!questions[0]) return undefined;
  const props = dialogView(questions[0], rowContextOf(state), most);
  return { type: "dialog", props, caret: props.caret, height: props.height };
}

type Upper = Pick<LiveView, "tail" | "calls" | "offer" | "tasks" | "queue" | "spinner">;

/** Lays out running and queued work in the remaining rows, starting next to the input box. */
function upperParts(
  state: State,
  now: number,
  { left: room, gap, overlay }: { left: number; gap: number; overlay: boolean },
): { parts: Upper; height: number } {
  const { size, terminal } = state;
  let left = room;
  const third = Math.max(1, Math.floor(size.rows / 3));
  // Returns the rows for a part that is followed by a gap, if there is room for it.
  const roomFor = (most: number): number => Math.max(0, Math.min(left, most) - gap);
  const spend = (height: number, blank = gap): void => {
    if (height > 0) left -= height + blank;
  };
  const spinner = roomFor(2) > 0 ? spinnerOf(state, now) : undefined;
  spend(spinner ? 1 : 0);
  const queue = last(queueOf(state), Math.min(3, left));
  spend(queue.length, 0);
  const offered = roomFor(Math.max(2 + gap, third));
  const offer =
    terminal && !terminal.taken && offered >= 2 ? offerView(terminal, size.columns, offered) : undefined;
  spend(offer ? 2 + offer.lines.length : 0);
  const calls = callsOf(state, now, roomFor(third));
  spend(calls ? runningCallsHeight(calls) : 0);
  const tail = last(tailRows(state.transcript, rowContextOf(state)), Math.min(third, left));
  spend(tail.length, 0);
  const panel = { columns: size.columns, working: state.busy !== undefined };
  const most = overlay ? 0 : left > 12 ? 8 : left - 2;
  const tasks = taskListView(state.tasks, { ...panel, room: Math.max(0, most - gap) });
  spend(tasks ? taskListHeight(tasks) : 0);
  // The lines of one answer stay together.
  const above = gap > 0 && left > 0 && !(tail.length > 0 && state.transcript.last === "text");
  if (above) left -= 1;
  return { parts: { tail: { above, rows: tail }, calls, offer, tasks, queue, spinner }, height: room - left };
}

function last<T>(items: readonly T[], count: number): T[] {
  return count <= 0 ? [] : items.slice(-count);
}

/** Limits the editor so that a question keeps room above it. */
function editorRoom({ questions }: State, left: number): number {
  return questions.length > 0 ? Math.max(1, left - 4) : left - 1;
}

function statusRoom(rows: number, left: number): number {
  if (rows >= 12) return Math.min(2, left);
  return left > 2 ? 1 : 0;
}

type Written = { input?: InputBoxProps; search?: HistorySearchProps; height: number; caret: Caret };

/** Returns the part of the editor around the cursor, at most `most` rows. */
function writtenIn(state: State, most: number): Written {
  const { editor, size, search, recall } = state;
  if (search) {
    const found = search.at === undefined ? "" : (recall.items[search.at] ?? "");
    const label = cut(`  search: ${safe(search.query)}`, size.columns);
    const room = Math.max(1, size.columns - width(label) - 2);
    const caret = { row: 0, column: Math.min(width(label), size.columns - 1) };
    return { search: { label, found: gist(found, room) }, height: 1, caret };
  }
  const { rows, caret } = layOut(editor, size.columns - promptColumns);
  const first = Math.min(Math.max(0, caret.row - most + 1), Math.max(0, rows.length - most));
  const lines = rows.slice(first, first + most).map(({ text }) => text);
  const hint = editor.text === "" ? { hint: hintOf(state) } : {};
  return {
    input: { lines, first: first === 0, shell: editor.text.startsWith("!"), ...hint },
    height: Math.max(1, lines.length),
    caret: { row: caret.row - first, column: caret.column + promptColumns },
  };
}

function hintOf({ notice, busy, size }: State): string {
  if (notice) return notice;
  if (size.columns < 60) return "";
  return busy ? "type to steer" : "what to do?  / commands  @ files  ! shell";
}

function statusOf(state: State, room: number): StatusLineProps | undefined {
  const { facts, mode, location, size, notice, editor } = state;
  const rows = Math.min(room, statusHeight(facts, size.columns - 2));
  if (rows === 0) return undefined;
  const notices = notice && editor.text !== "" ? { notice } : {};
  return { facts, mode, location, columns: size.columns, rows, ...notices };
}

/** Returns as many choices as fit, the chosen one among them; when some are hidden, also its position. */
function completionOf({ completion, size }: State, room: number): CompletionMenuProps | undefined {
  if (!completion || room === 0) return undefined;
  const { items, chosen, kind } = completion;
  const name = Math.max(...items.map(({ text }) => text.length)) + 2;
  const fits = items.length <= room || room < 2;
  const shown = fits ? Math.min(room, items.length) : room - 1;
  const middle = fits ? chosen - room + 1 : chosen - Math.floor(shown / 2);
  const first = Math.min(Math.max(0, middle), items.length - shown);
  const choices = items.slice(first, first + shown).map(({ text, note }, index) => ({
    label: cut(safe(kind === "command" ? `/${text}`.padEnd(name + 1) : text), size.columns),
    note,
    chosen: first + index === chosen,
  }));
  return { choices, ...(fits ? {} : { position: `${chosen + 1} of ${items.length}` }) };
}

function queueOf({ queue, size }: State): string[] {
  return queue.map((text) => cut(safe(text.replaceAll("\n", " ⏎ ")), size.columns));
}

function spinnerOf(state: State, now: number): SpinnerProps | undefined {
  const { busy, questions, size, terminal } = state;
  if (!busy || questions.length > 0 || terminal?.taken) return undefined;
  const seconds = Math.floor((now - busy.since) / 1000);
  const time = seconds < 90 ? ` · ${seconds} s` : ` · ${formatDuration(1000 * seconds)}`;
  // Two counts of seconds in one row would be one too many.
  const since = state.activity.type === "retrying" ? "" : time;
  const text = `${activityText(state, now)}${since}${busy.stopping ? "" : " · Esc interrupts"}`;
  return { text: cut(text, size.columns - 4), now };
}

function activityText({ activity, busy, running }: State, now: number): string {
  if (busy?.stopping) return "Stopping";
  if (running.length > 0)
    return running.length === 1 ? "Running" : `Running ${plural(running.length, "call")}`;
  switch (activity.type) {
    case "waiting":
      return busy?.what ?? "Waiting for the model";
    case "thinking":
      return "Thinking";
    case "writing":
      return "Writing";
    case "calling":
      return "Writing a call";
    case "retrying":
      return `Trying again in ${Math.max(0, Math.ceil((activity.until - now) / 1000))} s: ${activity.why}`;
  }
}

const shownOutput = 6;

/** Lays out the calls first, then the ends of their output, as far as there is room. */
function callsOf(state: State, now: number, room: number): RunningCallsProps | undefined {
  const { running, terminal, size } = state;
  if (running.length === 0 || room === 0) return undefined;
  const shown = running.length <= room ? running : running.slice(0, Math.max(1, room - 1));
  const each = Math.min(shownOutput, Math.floor((room - running.length) / running.length));
  const calls = shown.map((call): ShownCall => {
    // Its terminal shows the output, where that is shown.
    const elsewhere = terminal !== undefined && (call.call.input as { tty?: unknown }).tty === true;
    const output = each > 0 && !elsewhere ? outputOf(call, each, size.columns) : [];
    return { call: call.call, facts: call.facts, elapsed: elapsed(call, now), output };
  });
  const more = room < 2 ? 0 : running.length - shown.length;
  return { calls, more, context: rowContextOf(state) };
}

function elapsed({ since }: RunningCall, now: number): string {
  return now - since < 2000 ? "" : formatDuration(now - since);
}

/** Returns the last lines that a call has printed. */
function outputOf({ output }: RunningCall, most: number, columns: number): string[] {
  if (output.trim() === "") return [];
  const lines = output.trimEnd().split("\n").slice(-most);
  return lines.map((line) => cut(safe(line), columns));
}
