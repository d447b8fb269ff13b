/** The interactive screen: takes the terminal, shows one session after the other, gives the terminal back. */

import { setTimeout as sleep } from "node:timers/promises";
import type { LogEvent } from "../../core/events.ts";
import type { Happening } from "../../core/ports.ts";
import { noteRows } from "../blocks/event-rows.ts";
import { completeTail } from "../blocks/transcript.ts";
import { pastRows, welcomeRows } from "../blocks/welcome.ts";
import { commandsOf } from "../commands/commands.ts";
import { ownNotes } from "../commands/own.ts";
import { createKeyReader, type Key } from "../input/keys.ts";
import { onKey } from "../input/on-key.ts";
import { typedMessage } from "../input/typed-message.ts";
import type { Beginning, Host, Leave, Person, Tui } from "../ports/session.ts";
import { cutRow } from "../rows/rows.ts";
import { mountLiveArea } from "../screen/frame.ts";
import { createScreen } from "../screen/screen.ts";
import { type App, dispatch, draw, print, streamMs, type TuiOptions } from "./app.ts";
import { noteKeys, tellQuestion, tellTurnEnd, tellWaiting } from "./away.ts";
import { lend, perform } from "./effects.ts";
import { ask } from "./permission-prompt.ts";
import { onPickingKey, pick } from "./picking.ts";
import { initialState, reduce, rowContextOf } from "./state.ts";
import { giveUp, offer, resizeTaken, typed } from "./terminal-handover.ts";

const resizeMs = 60;
/** Milliseconds of silence after which a lone Escape is a key, and a paste has ended. */
const keyMs = 30;
/** Matches what a terminal sends by itself at the end of what was read. */
const endsInReport = /\x1b\[(?:[IO]|\d+;\d+R)$/;

/** Takes the terminal and shows nothing yet. */
export function createTui(options: TuiOptions): Tui {
  const { terminal } = options;
  const screen = createScreen({
    write: terminal.write,
    size: terminal.size(),
    reflow: options.reflow,
  });
  const focused = (isHere: boolean) => {
    app.attention.focus = isHere ? "here" : "away";
  };
  const app: App = {
    ...options,
    display: {
      screen,
      live: mountLiveArea({ colour: options.colour, onTick: () => draw(app) }),
      history: [],
      drawn: undefined,
      timer: undefined,
      terminalLent: false,
      settling: false,
    },
    input: {
      keys: createKeyReader({ located: screen.located, focused }),
      early: [],
      timer: undefined,
      lent: false,
    },
    attention: { focus: options.notifier?.atFirst ?? "unknown", keyAt: Date.now() },
    work: { stops: new Set(), running: new Set(), receivedMessages: [] },
    questions: { answers: new Map(), unseen: new Map(), lastId: 0, modeTimer: undefined },
    state: undefined,
    host: undefined,
    attended: undefined,
    picking: undefined,
    deciding: false,
    closed: false,
    leave: () => {},
    perform,
    feed: () => onKeys(app, app.input.early.splice(0)),
  };
  terminal.onData((chunk) => onData(app, chunk));
  terminal.onResize(() => onResize(app));
  process.on("SIGCONT", () => resume(app));
  const onStop = () => suspend(app, process.pid, onStop);
  process.on("SIGTSTP", onStop);
  terminal.take();
  screen.locate();
  return {
    person: personOf(app),
    attach: (host, beginning) => attach(app, host, beginning),
    pick: (request) => pick(app, request),
    lend: (use) => lend(app, use),
    warn: (text) =>
      void (app.state
        ? dispatch(app, { type: "print", rows: noteRows(["warn", text], rowContextOf(app.state)) })
        : app.display.history.push(`! ${text}`)),
    stopped: () => stopped(app),
    close: () => close(app),
  };
}

function personOf(app: App): Person {
  return {
    ask(question, signal, onShown) {
      const answer = ask(app, question, signal, onShown);
      if (!signal.aborted) tellQuestion(app, question);
      return answer;
    },
    takeQueued() {
      const texts = app.state?.queue ?? [];
      const received = app.work.receivedMessages.splice(0);
      if (texts.length > 0) dispatch(app, { type: "steered" });
      return [...received, ...texts.map(typedMessage)];
    },
    onWaiting(command) {
      tellWaiting(app, command.command);
      return offer(app, command);
    },
  };
}

/** Events before which a command, of the model or the person, may have switched to another branch. */
const mayFollowSwitch: ReadonlySet<LogEvent["type"]> = new Set(["tool_result", "user_message", "turn_ended"]);

function followBranch(app: App, host: Host, type: LogEvent["type"]): void {
  if (!mayFollowSwitch.has(type)) return;
  const branch = host.branch();
  if (branch !== app.state?.location.branch) dispatch(app, { type: "branch", branch }, streamMs);
}

async function attach(app: App, host: Host, { say, draft }: Beginning = {}): Promise<Leave> {
  const events = host.log.events();
  const location = { cwd: host.cwd, shortCwd: host.shortCwd, branch: host.branch() };
  const typed = app.state?.recall.items ?? host.typed();
  if (app.state) print(app, [[]]);
  app.host = host;
  app.deciding = false;
  const [size, commands] = [app.terminal.size(), commandsOf(host)];
  app.state = initialState({
    ...{ size, mode: host.mode(), location, commands, typed, events },
    describe: host.describe,
  });
  if (draft !== undefined) app.state = reduce(app.state, { type: "written", text: draft }).state;
  // Rows of the earlier conversation are printed first, so that new ones stand below them.
  const past = pastRows(events, { cwd: host.cwd, columns: app.state.size.columns });
  const { columns } = app.state.size;
  print(
    app,
    [...welcomeRows(events, app.version, host.shortCwd), ...past]
      .map((row) => cutRow(row, columns))
      .concat(ownNotes(host.actions.own()).flatMap((text) => noteRows(["warn", text], { cwd: "", columns }))),
  );
  const unfollow = host.follow((happening) => onHappening(app, host, happening));
  draw(app);
  app.terminal.guard();
  if (say !== undefined) app.perform(app, { type: "submit", text: say });
  app.feed();
  const exit = await new Promise<Leave>((resolve) => {
    // Keys from here on are meant for the next session.
    app.leave = (leave) => {
      app.host = undefined;
      resolve(leave);
    };
  });
  await stopped(app);
  unfollow();
  return exit;
}

function onHappening(app: App, host: Host, happening: Happening): void {
  switch (happening.type) {
    case "part":
      dispatch(app, { type: "part", part: happening.part, now: Date.now() }, streamMs);
      break;
    case "progress":
      dispatch(app, { type: "progress", id: happening.toolUseId, text: happening.text }, streamMs);
      break;
    case "event":
      dispatch(app, { type: "event", event: happening.event, events: host.log.events() }, streamMs);
      followBranch(app, host, happening.event.type);
      if (happening.event.type === "turn_ended")
        tellTurnEnd(app, { events: host.log.events(), end: happening.event });
      // A server may have told of its prompts meanwhile.
      if (happening.event.type === "turn_ended" && host.mcp.list().length > 0)
        dispatch(app, { type: "commands", commands: commandsOf(host) }, streamMs);
  }
}

function onData(app: App, chunk: string): void {
  if (app.input.lent) return;
  const ours = typed(app, chunk);
  if (!ours) {
    noteKeys(app);
    return;
  }
  clearTimeout(app.input.timer);
  app.input.timer = undefined;
  const keys = app.input.keys.push(ours);
  // A report of the focus counts that came after the keys.
  if (!endsInReport.test(ours)) noteKeys(app);
  onKeys(app, keys);
  flushLater(app);
}

function flushLater(app: App): void {
  if (!app.input.keys.isWaiting()) return;
  const timer = setTimeout(() => {
    // Input that arrived meanwhile is read first.
    setImmediate(() => {
      if (app.input.timer !== timer) return;
      onKeys(app, app.input.keys.flush());
      flushLater(app);
    });
  }, keyMs);
  app.input.timer = timer;
}

function onKeys(app: App, keys: readonly Key[]): void {
  for (const key of keys) {
    if (app.closed) return;
    if (app.picking) {
      onPickingKey(app, app.picking, key);
      continue;
    }
    if (!app.state || !app.host || app.deciding) {
      app.input.early.push(key);
      continue;
    }
    const { state, rows, effects } = onKey(app.state, key, Date.now());
    app.state = state;
    print(app, rows);
    for (const effect of effects) app.perform(app, effect);
  }
  if (keys.length > 0) {
    draw(app);
  }
}

function onResize(app: App): void {
  const size = app.terminal.size();
  app.display.screen.resized(size);
  resizeTaken(app);
  if (app.state) app.state = reduce(app.state, { type: "size", size }).state;
  if (app.display.drawn && app.display.screen.lost() > app.display.drawn.blank) keepTail(app);
  // The terminal rewraps its content; drawing in the middle of that would tear it.
  app.display.settling = true;
  clearTimeout(app.display.timer);
  app.display.timer = setTimeout(() => {
    app.display.settling = false;
    draw(app);
  }, resizeMs);
}

/**
 * Keeps rows that have scrolled out of the window, which cannot be redrawn: a streaming answer stays there and
 * continues below.
 */
function keepTail(app: App): void {
  const { state } = app;
  const { drawn } = app.display;
  const completed =
    state && drawn?.tailOnly && completeTail(state.transcript, drawn.transcript, rowContextOf(state));
  if (!completed) return;
  app.display.screen.keep(drawn.tail);
  app.state = { ...state, transcript: completed.transcript };
  app.display.history = [];
  print(app, completed.rows);
  app.display.drawn = undefined;
}

/**
 * Suspends like any program on Ctrl-Z, with the terminal restored; where nobody could resume it, it continues at once.
 */
function suspend(app: App, target: number, listener: () => void): void {
  giveUp(app);
  app.display.screen.clear();
  app.terminal.release();
  app.display.terminalLent = true;
  process.off("SIGTSTP", listener);
  process.kill(target, "SIGTSTP");
  setTimeout(() => {
    process.on("SIGTSTP", listener);
    resume(app);
  }, 100);
}

function resume(app: App): void {
  if (app.closed) return;
  app.terminal.release();
  app.terminal.take();
  app.display.screen.locate();
  app.display.terminalLent = false;
  noteKeys(app);
  draw(app);
}

const patienceMs = 2500;

/** Interrupts running work, and waits a while for its end. */
async function stopped(app: App): Promise<void> {
  for (const stop of app.work.stops) stop.abort("interrupted");
  await Promise.race([Promise.allSettled(app.work.running), sleep(patienceMs, undefined, { ref: false })]);
}

function close(app: App): void {
  if (app.closed) return;
  if (!app.display.terminalLent)
    app.display.screen.draw(app.display.history.splice(0), { lines: [""], caret: { row: 0, column: 0 } });
  app.closed = true;
  for (const timer of [app.display.timer, app.input.timer, app.questions.modeTimer]) clearTimeout(timer);
  app.display.live.unmount();
  app.terminal.release();
}
