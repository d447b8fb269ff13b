/**
 * Takes over a waiting command's terminal: keys go there, and its screen is shown in the live area, or on the whole
 * terminal while a full-screen program runs. Nothing that is typed is stored.
 */

import type { TakenTerminal, WaitingCommand } from "../../core/waiting-command.ts";
import { drawingFilter } from "../drawing-filter.ts";
import { leaveAlternate, resetModes } from "../screen/guard.ts";
import { type App, dispatch, draw } from "./app.ts";
import { type Attended, takenSize } from "./terminal-rows.ts";

/** Milliseconds that a call of the model waits for the user to take over its command. */
const patienceMs = 5000;
const refreshMs = 30;

const enterAlternate = "\x1b[?1049h";
/** Resets the key modes, which no other reset names. */
const plainKeys = "\x1b[?1l\x1b>";

/** Ctrl-] as terminals send it: as a control code, or as kitty and xterm spell it. */
const giveBackKey = /\x1d|\x1b\[93;5u|\x1b\[27;5;93~/;
/** Matches a program's exit from the alternate screen; later output belongs to our screen. */
const leaving = /\x1b\[\?(?:1049|1047|47)l/;

/** Shows a waiting command, and offers it. Returns how long the model's call waits, in milliseconds. */
export function offer(app: App, port: WaitingCommand): number {
  const attended: Attended = { port, whole: false, filter: drawingFilter() };
  app.attended = attended;
  void port.over.then(() => app.attended === attended && finish(app, attended));
  void show(app, attended);
  return patienceMs;
}

/** Sends the user's keys to the waiting command, until it is over or given back. */
export function takeOver(app: App): void {
  const { attended, state } = app;
  if (!attended || attended.taken || !state) return;
  attended.taken = attended.port.take(takenSize(state.size), (bytes) => onPrinted(app, attended, bytes));
  if (!attended.taken) return;
  // Pastes come as if typed: a program that wants marks around them has them only when it has the whole terminal.
  app.terminal.report(false);
  void show(app, attended);
}

/** Handles raw input. Returns the input that follows the give-back key; undefined when there is none. */
export function typed(app: App, chunk: string): string | undefined {
  const { taken } = app.attended ?? {};
  if (!taken) return chunk;
  const key = giveBackKey.exec(chunk);
  const bytes = key ? chunk.slice(0, key.index) : chunk;
  if (bytes !== "") taken.write(bytes);
  if (!key) return undefined;
  taken.giveBack();
  giveUp(app);
  return chunk.slice(key.index + key[0].length);
}

/** Takes the keys back at once. */
export function giveUp(app: App): void {
  const { attended } = app;
  attended?.taken?.giveBack();
  if (attended) finish(app, attended);
}

/** Resizes a terminal that was taken over. */
export function resizeTaken({ attended, terminal }: App): void {
  const size = terminal.size();
  attended?.taken?.resize(attended.whole ? size : takenSize(size));
}

function finish(app: App, attended: Attended): void {
  app.attended = undefined;
  clearTimeout(attended.refresh);
  // First: what is drawn on leaving must not show an offer that is over, and whose key does nothing.
  dispatch(app, { type: "terminal" });
  if (attended.whole) leaveWhole(app, attended);
  if (attended.taken && !app.closed) app.terminal.report(true);
}

function onPrinted(app: App, attended: Attended, bytes: Uint8Array): void {
  if (app.attended !== attended) return;
  if (attended.whole) passOn(app, attended, bytes);
  attended.refresh ??= setTimeout(() => {
    attended.refresh = undefined;
    void show(app, attended);
  }, refreshMs);
}

/** Passes drawing on to our terminal, up to where the program leaves its screen. */
function passOn(app: App, attended: Attended, bytes: Uint8Array): void {
  const drawn = attended.filter(bytes);
  const left = leaving.exec(drawn);
  app.terminal.write(left ? drawn.slice(0, left.index) : drawn);
  if (left) leaveWhole(app, attended);
}

async function show(app: App, attended: Attended): Promise<void> {
  const { port } = attended;
  const view = await port.view();
  if (app.attended !== attended || app.closed) return;
  const { taken, whole } = attended;
  if (taken && view.alternate && !whole) return enterWhole(app, attended, taken);
  if (!view.alternate && whole) leaveWhole(app, attended);
  if (!attended.whole)
    dispatch(app, {
      type: "terminal",
      terminal: { command: port.command, view, taken: taken !== undefined },
    });
}

async function enterWhole(app: App, attended: Attended, taken: TakenTerminal): Promise<void> {
  const replayed = await taken.replay();
  if (app.attended !== attended || app.closed || attended.whole) return;
  app.display.screen.clear();
  app.display.terminalLent = true;
  attended.whole = true;
  app.terminal.lend(true);
  attended.filter = drawingFilter();
  app.terminal.write(enterAlternate + attended.filter(Buffer.from(replayed)));
  // Programs redraw for the new size.
  taken.resize(app.terminal.size());
}

function leaveWhole(app: App, attended: Attended): void {
  attended.whole = false;
  app.display.terminalLent = false;
  app.terminal.write(plainKeys + resetModes + leaveAlternate);
  app.terminal.lend(false);
  attended.taken?.resize(takenSize(app.terminal.size()));
  draw(app);
}
