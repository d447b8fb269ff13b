/** Carries out the effects of the state: turns, shell lines, commands, and programs that take the terminal. */

import type { UserBlock } from "../../core/blocks.ts";
import type { TurnEnd } from "../../core/events.ts";
import { noteRows } from "../blocks/event-rows.ts";
import type { RowContext } from "../blocks/tool-rows.ts";
import { commandsOf } from "../commands/commands.ts";
import { commandIn } from "../input/command-line.ts";
import { prepareFiles } from "../input/completion.ts";
import type { Key } from "../input/keys.ts";
import { typedMessage } from "../input/typed-message.ts";
import type { Host } from "../ports/session.ts";
import { type App, dispatch, draw, streamMs } from "./app.ts";
import { noteKeys } from "./away.ts";
import { ask } from "./permission-prompt.ts";
import { pick } from "./picking.ts";
import { type Effect, rowContextOf, shellId } from "./state.ts";
import { offer, takeOver } from "./terminal-handover.ts";

/**
 * Milliseconds that a mode must stay before it answers an open question. Shift-Tab cycles through the modes: `plan`
 * must not refuse and `auto` must not run a call on the way to another mode.
 */
const modeRestsMs = 800;

/** Carries out one effect; longer work continues in the background. */
export function perform(app: App, effect: Effect): void {
  const { host } = app;
  if (!host) return;
  switch (effect.type) {
    case "submit":
      follow(
        app,
        work(app, (signal) => host.turn([typedMessage(effect.text)], signal)),
      );
      break;
    case "shell":
      follow(app, runShell(app, host, effect.text));
      break;
    case "command":
      void runCommand(app, host, effect.text).catch((error: Error) =>
        dispatch(app, { type: "print", rows: noteRows(["warn", error.message], rowContext(app)) }),
      );
      break;
    case "remember":
      host.rememberTyped(effect.text);
      break;
    case "interrupt":
      for (const stop of app.work.stops) stop.abort("interrupted");
      break;
    case "quit":
      app.leave({ type: "quit" });
      break;
    case "suspend":
      process.kill(0, "SIGTSTP");
      break;
    case "edit_outside":
      void editOutside(app, host);
      break;
    case "paste_picture":
      void host.pastedPicture().then(
        (name) => dispatch(app, { type: "inserted", text: `@${name} ` }),
        (error: Error) => dispatch(app, { type: "notice", text: error.message }),
      );
      break;
    case "load_files":
      void host.files().then((paths) => dispatch(app, { type: "files", files: prepareFiles(paths) }));
      break;
    case "take_over":
      takeOver(app);
      break;
    case "redraw":
      app.display.screen.clear();
      break;
    case "mode":
      host.setMode(effect.mode);
      clearTimeout(app.questions.modeTimer);
      app.questions.modeTimer = setTimeout(() => host.judgeAgain(), modeRestsMs);
      break;
    case "answer":
      app.questions.answers.get(effect.id)?.(effect.answer);
      break;
  }
}

function rowContext({ state }: App): RowContext {
  return state ? rowContextOf(state) : { cwd: "", columns: 80 };
}

function follow(app: App, work: Promise<void>): void {
  app.work.running.add(work);
  void work.finally(() => app.work.running.delete(work));
}

async function work(app: App, turn: (signal: AbortSignal) => Promise<TurnEnd>): Promise<void> {
  const stop = new AbortController();
  app.work.stops.add(stop);
  dispatch(app, { type: "turn_started", now: Date.now() });
  const reason = await turn(stop.signal);
  app.work.stops.delete(stop);
  dispatch(app, { type: "turn_over", reason });
  if (reason === "completed" || reason === "interrupted") sendLate(app);
}

/** Sends words of others that came too late for the turn; the output of a command waits for a message. */
function sendLate(app: App): void {
  const { host, state } = app;
  const late = app.work.receivedMessages.filter(({ shell }) => shell === undefined);
  if (!host || state?.busy || late.length === 0) return;
  app.work.receivedMessages = app.work.receivedMessages.filter(({ shell }) => shell !== undefined);
  follow(
    app,
    work(app, (signal) => host.turn(late, signal)),
  );
}

/** Sends words of others to the model: now, or at the next step. */
function send(app: App, host: Host, content: UserBlock[]): void {
  if (content.length === 0) return;
  const message = { content, typed: false };
  if (app.state?.busy?.turn) app.work.receivedMessages.push(message);
  else
    follow(
      app,
      work(app, (signal) => host.turn([message], signal)),
    );
}

async function runShell(app: App, host: Host, command: string): Promise<void> {
  const stop = new AbortController();
  app.work.stops.add(stop);
  dispatch(app, { type: "shell_started", command, now: Date.now() });
  const output = await host.shell(command, stop.signal, {
    onProgress: (text) => dispatch(app, { type: "progress", id: shellId, text }, streamMs),
    onWaiting: (waiting) => void offer(app, waiting),
  });
  app.work.stops.delete(stop);
  const content: UserBlock[] = [{ type: "text", text: output }];
  const shell = { command };
  if (app.state?.busy?.turn) app.work.receivedMessages.push({ content, shell, typed: false });
  else host.say(content, shell);
  dispatch(app, { type: "shell_over" });
}

async function runCommand(app: App, host: Host, line: string): Promise<void> {
  const { name, argument } = commandIn(line) ?? { name: "", argument: "" };
  const { state } = app;
  if (!state) return;
  dispatch(app, { type: "print", rows: [[{ text: `› ${line}`, tone: "accent" }]] });
  const commands = commandsOf(host);
  const command = commands.find((each) => each.name === name);
  try {
    await command?.run(argument, {
      host,
      commands,
      events: host.log.events(),
      columns: state.size.columns,
      busy: state.busy !== undefined,
      print: (rows) => dispatch(app, { type: "print", rows }),
      notice: (text) => dispatch(app, { type: "notice", text }),
      leave: (exit) => app.leave(exit),
      pick: (request) => pick(app, request),
      say: (text) => dispatch(app, { type: "say", text }),
      send: (content) => send(app, host, content),
      async confirm(title, rows, signal = new AbortController().signal) {
        // A command that asks after a pick needs the keys again.
        app.deciding = false;
        return (await ask(app, { title, rows }, signal)).decision === "allow";
      },
      work: (what, action) => workOn(app, what, action),
      changed: () => dispatch(app, { type: "commands", commands: commandsOf(host) }),
    });
  } finally {
    app.deciding = false;
    app.feed();
  }
}

/** Runs interruptible work; text typed meanwhile is sent after it. */
async function workOn(app: App, what: string, action: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  app.work.stops.add(stop);
  dispatch(app, { type: "turn_started", now: Date.now(), what });
  const work = action(stop.signal).finally(() => {
    app.work.stops.delete(stop);
    dispatch(app, { type: "turn_over", reason: stop.signal.aborted ? "interrupted" : "completed" });
  });
  follow(
    app,
    work.catch(() => undefined),
  );
  await work;
}

async function editOutside(app: App, host: Host): Promise<void> {
  const text = app.state?.editor.text ?? "";
  const edited = await lend(app, () => host.editText(text)).catch((error: Error) => {
    dispatch(app, { type: "notice", text: error.message });
    return undefined;
  });
  if (edited !== undefined) dispatch(app, { type: "written", text: edited.replace(/\n$/, "") });
}

function typedBy(key: Key): string {
  if (key.type !== "key") return key.text;
  return key.key === "enter" ? "\r" : "";
}

/** Gives the terminal to `use` for a while; the agent works on, and its output is shown afterwards. */
export async function lend<T>(app: App, use: (typed: string) => Promise<T>): Promise<T> {
  const typed = app.input.early.splice(0).map(typedBy).join("");
  app.display.screen.clear();
  app.terminal.release();
  app.display.terminalLent = true;
  app.input.lent = true;
  try {
    return await use(typed);
  } finally {
    app.input.lent = false;
    app.terminal.take();
    app.display.screen.locate();
    app.display.terminalLent = false;
    noteKeys(app);
    draw(app);
  }
}
