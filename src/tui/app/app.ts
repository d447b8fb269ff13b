/** The running screen: its state, how a change of it is taken over, and how it is drawn. */

import type { UserBlock } from "../../core/blocks.ts";
import type { Transcript } from "../blocks/transcript.ts";
import { type Picking, pickerSize, pickerView } from "../dialogs/picker.ts";
import type { Key, KeyReader } from "../input/keys.ts";
import type { Answer, Host, Leave } from "../ports/session.ts";
import { paint, type Row, type Size } from "../rows/rows.ts";
import type { LiveRoot } from "../screen/frame.ts";
import type { Reflow } from "../screen/reflow.ts";
import type { Screen } from "../screen/screen.ts";
import type { Terminal } from "../screen/terminal.ts";
import { detailsView } from "./details.ts";
import { type LiveView, liveView, type Open, pickerAlone } from "./live.ts";
import { type Action, type Change, type Effect, reduce, type State } from "./state.ts";
import type { Attended } from "./terminal-rows.ts";

export type TuiOptions = { terminal: Terminal; colour: boolean; reflow: Reflow; version: string };

/** All that lasts while the program runs. */
export type App = TuiOptions & {
  screen: Screen;
  live: LiveRoot;
  keys: KeyReader;
  state: State | undefined;
  host: Host | undefined;
  /** Painted rows that are not written yet. */
  history: string[];
  answers: Map<number, (answer: Answer) => void>;
  /** The command that waits at its terminal. */
  attended: Attended | undefined;
  lastId: number;
  /** The list that is open. */
  picking: Picking | undefined;
  /** Something was picked, and the command that asked is not over: keys wait. */
  deciding: boolean;
  /** Stops the turn, and the shell line of the person. */
  stops: Set<AbortController>;
  /** What runs in the background until it is stopped or done. */
  works: Set<Promise<void>>;
  /** What the person ran while it worked: said at the next step. */
  heard: UserBlock[][];
  /**
   * What was drawn last: the transcript, and the rows of its tail, with the blank one above it if there is one.
   * `onlyTold`: what was printed since is all of the reply.
   */
  drawn: { transcript: Transcript; tail: number; blank: number; onlyTold: boolean } | undefined;
  leave: (how: Leave) => void;
  drawTimer: NodeJS.Timeout | undefined;
  keyTimer: NodeJS.Timeout | undefined;
  modeTimer: NodeJS.Timeout | undefined;
  /** What was typed before there was a session, between two, or while something picked is carried out. */
  early: Key[];
  /** The terminal belongs to another program: nothing is drawn. */
  held: boolean;
  /** The window has just changed its size, and may go on doing so. */
  settling: boolean;
  closed: boolean;
  /** Carries out what a change asks for. */
  perform: (app: App, effect: Effect) => void;
  /** Takes up the keys that waited. */
  feed: () => void;
};

/** Streamed text is shown within so many milliseconds. */
export const streamMs = 50;

/** Puts rows above the live area. */
export function print(app: App, rows: readonly Row[]): void {
  app.history.push(...rows.map((row) => paint(row, app.colour)));
}

/** What an action makes of the state; it is on screen within so many milliseconds. */
export function dispatch(app: App, action: Action, withinMs = 0): void {
  if (!app.state) return;
  const changed = reduce(app.state, action);
  if (app.drawn && changed.rows.length > 0) app.drawn.onlyTold &&= action.type === "part";
  apply(app, changed, withinMs);
}

/** Takes over a change; it is on screen within so many milliseconds. */
function apply(app: App, { state, rows, effects }: Change, withinMs: number): void {
  app.state = state;
  print(app, rows);
  for (const effect of effects) app.perform(app, effect);
  if (withinMs === 0) draw(app);
  else app.drawTimer ??= setTimeout(() => draw(app), withinMs);
}

/** Brings the screen up to date. */
export function draw(app: App): void {
  if (!app.held && !app.closed) app.terminal.look();
  if (app.held || app.settling || app.closed) return;
  const view = viewOf(app);
  if (!view) return;
  clearTimeout(app.drawTimer);
  app.drawTimer = undefined;
  const { state } = app;
  const { above, rows } = view.tail;
  const tail = rows.length + Number(above);
  if (state) app.drawn = { transcript: state.transcript, tail, blank: Number(above), onlyTold: true };
  app.screen.draw(app.history.splice(0), app.live.frame(view));
}

/** The live area as it is now; undefined while there is nothing to show. */
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
