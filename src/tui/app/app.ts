/** The running screen: its state, how changes are applied, and how it is drawn. */

import type { Transcript } from "../blocks/transcript.ts";
import { type Picking, pickerSize, pickerView } from "../dialogs/picker.ts";
import type { Key, KeyReader } from "../input/keys.ts";
import type { Answer, Host, Leave, Queued } from "../ports/session.ts";
import { paint, type Row, type Size } from "../rows/rows.ts";
import type { LiveRoot } from "../screen/frame.ts";
import type { Focus, Notifier } from "../screen/notices.ts";
import type { Reflow } from "../screen/reflow.ts";
import type { Screen } from "../screen/screen.ts";
import type { Terminal } from "../screen/terminal.ts";
import { detailsView } from "./details.ts";
import { type LiveView, liveView, type Open, pickerAlone } from "./live.ts";
import { type Action, type Change, type Effect, reduce, type State } from "./state.ts";
import type { Attended } from "./terminal-rows.ts";

/** `notifier`: tells a person who looks elsewhere; undefined when they want none. */
export type TuiOptions = {
  terminal: Terminal;
  colour: boolean;
  reflow: Reflow;
  version: string;
  notifier: Notifier | undefined;
};

/** Where the person is, as far as it is known. `keyAt`: time of the last key, in milliseconds. */
type Attention = { focus: Focus; keyAt: number };

/** Input on its way to the keys that the state handles. */
type Input = {
  keys: KeyReader;
  /** Keys typed before there was a session, between two, or while a picked item is carried out. */
  early: Key[];
  timer: NodeJS.Timeout | undefined;
  /** True while keys belong to whoever the terminal was lent to. */
  lent: boolean;
};

/** Work that the user started. */
type Work = {
  /** Stops the turn, and the user's shell line. */
  stops: Set<AbortController>;
  /** Background work that runs until it is stopped or done. */
  running: Set<Promise<void>>;
  /** Output of shell lines that the user ran during a turn, and words of others: said at the next step. */
  receivedMessages: Queued[];
};

/** The open questions, by their id. */
type Questions = {
  answers: Map<number, (answer: Answer) => void>;
  /** Called when a question is first drawn. */
  unseen: Map<number, () => void>;
  lastId: number;
  modeTimer: NodeJS.Timeout | undefined;
};

/** Rows on the terminal, and rows waiting for it. */
type Display = {
  screen: Screen;
  live: LiveRoot;
  /** Painted rows that are not written yet. */
  history: string[];
  /**
   * The last drawn state: the transcript, and the rows of its tail, with the blank one above it if there is one.
   * `tailOnly`: everything printed since belongs to the reply.
   */
  drawn: { transcript: Transcript; tail: number; blank: number; tailOnly: boolean } | undefined;
  timer: NodeJS.Timeout | undefined;
  /** True while the terminal belongs to another program: nothing is drawn. */
  terminalLent: boolean;
  /** True while the window is changing its size. */
  settling: boolean;
};

/** Everything that lasts while the program runs. */
export type App = TuiOptions & {
  display: Display;
  input: Input;
  attention: Attention;
  work: Work;
  questions: Questions;
  state: State | undefined;
  host: Host | undefined;
  /** The command that waits at its terminal. */
  attended: Attended | undefined;
  /** The list that is open. */
  picking: Picking | undefined;
  /** True while the command that asked for a pick runs: keys wait. */
  deciding: boolean;
  closed: boolean;
  leave: (exit: Leave) => void;
  /** Carries out an effect of a change. */
  perform: (app: App, effect: Effect) => void;
  /** Handles the keys that waited. */
  feed: () => void;
};

/** Streamed text is shown within this many milliseconds. */
export const streamMs = 50;

/** Prints rows above the live area. */
export function print(app: App, rows: readonly Row[]): void {
  app.display.history.push(...rows.map((row) => paint(row, app.colour)));
}

/** Applies an action to the state; the screen follows within the given milliseconds. */
export function dispatch(app: App, action: Action, withinMs = 0): void {
  if (!app.state) return;
  const changed = reduce(app.state, action);
  if (app.display.drawn && changed.rows.length > 0) app.display.drawn.tailOnly &&= action.type === "part";
  apply(app, changed, withinMs);
}

/** Applies a change; the screen follows within the given milliseconds. */
function apply(app: App, { state, rows, effects }: Change, withinMs: number): void {
  app.state = state;
  print(app, rows);
  for (const effect of effects) app.perform(app, effect);
  if (withinMs === 0) draw(app);
  else app.display.timer ??= setTimeout(() => draw(app), withinMs);
}

/** Updates the screen. */
export function draw(app: App): void {
  if (app.display.terminalLent || app.display.settling || app.closed) return;
  const view = viewOf(app);
  if (!view) return;
  const frame = app.display.live.frame(view);
  // As late as can be: rows that are written for a size that the window no longer has may cover others.
  app.terminal.look();
  if (app.display.settling) return;
  clearTimeout(app.display.timer);
  app.display.timer = undefined;
  const { state } = app;
  const { above, rows } = view.tail;
  const tail = rows.length + Number(above);
  if (state) app.display.drawn = { transcript: state.transcript, tail, blank: Number(above), tailOnly: true };
  app.display.screen.draw(app.display.history.splice(0), frame);
  if (view.open?.type === "dialog") tellShown(app);
}

/** The first question is the one that is drawn. */
function tellShown({ questions, state }: App): void {
  const id = state?.questions[0]?.id;
  if (id === undefined) return;
  const onShown = questions.unseen.get(id);
  questions.unseen.delete(id);
  onShown?.();
}

/** Returns the live area as it is now; undefined while there is nothing to show. */
function viewOf(app: App): LiveView | undefined {
  const { state, host, picking } = app;
  const size = state?.size ?? app.terminal.size();
  const overlay = (picking && pickerOpen(picking, size)) ?? (state && host && detailsOpen(state, host));
  if (state && (host || overlay)) return liveView(state, Date.now(), overlay);
  return overlay && pickerAlone(overlay, size.columns);
}

function pickerOpen({ picker }: Picking, size: Size): Open {
  const props = pickerView(picker, pickerSize(size));
  return { type: "picker", props, height: props.height, caret: props.caret };
}

function detailsOpen(state: State, { log }: Host): Open | undefined {
  const details = detailsView(state, log.events(), pickerSize(state.size).rows);
  if (!details) return undefined;
  const { height, ...props } = details;
  return { type: "details", props, height };
}
