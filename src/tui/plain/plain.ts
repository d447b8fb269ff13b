/**
 * The screen for screen readers and dumb terminals: each row once, nothing redrawn, lines edited by the terminal
 * itself. It never changes the terminal's modes, so there is nothing to give back.
 */

import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { shellOutput } from "../../core/text/tags.ts";
import type { RowContext } from "../blocks/tool-rows.ts";
import { addEvent, addPart, emptyTranscript, type Step, type Transcript } from "../blocks/transcript.ts";
import { pastRows, welcomeRows } from "../blocks/welcome.ts";
import { commandsOf } from "../commands/commands.ts";
import { ownNotes } from "../commands/own.ts";
import { answerOf, pendingQuestion } from "../dialogs/dialog.ts";
import { askedRows, dialogRows } from "../dialogs/dialog-view.ts";
import type { Form } from "../dialogs/form.ts";
import { commandIn } from "../input/command-line.ts";
import { typedMessage } from "../input/typed-message.ts";
import type {
  Answer,
  Beginning,
  Confirmation,
  Host,
  Leave,
  Person,
  Question,
  Queued,
  Tui,
} from "../ports/session.ts";
import type { PickRequest } from "../ports/sessions.ts";
import { plain, type Row, safe } from "../rows/rows.ts";
import { formLines, onFormLine } from "./form.ts";
import { onPickLine, type PlainPicker, plainList, plainPicker } from "./picking.ts";
import { createOffers } from "./terminal.ts";

type OpenQuestion = {
  question: Question | Confirmation;
  answer(answer: Answer): void;
  instead: boolean;
  form: Form | undefined;
  onShown: (() => void) | undefined;
};

type Picking = { picker: PlainPicker; settle(id: string | undefined): void };

type Plain = {
  lines: Interface;
  version: string;
  transcript: Transcript;
  host: Host | undefined;
  queue: Queued[];
  questions: OpenQuestion[];
  offers: ReturnType<typeof createOffers>;
  picking: Picking | undefined;
  stops: Set<AbortController>;
  works: Set<Promise<unknown>>;
  /** True while lines belong to whoever the terminal was lent to. */
  lent: boolean;
  /** Reads on after somebody else has paused the input. */
  resume(): void;
  /** Time of the last Ctrl-C, in milliseconds since 1970. */
  interruptedAt: number;
  leave: (exit: Leave) => void;
};

/** Creates a screen that reads lines from `input` and writes rows to standard output. */
export function createPlain(options: { version: string; input: NodeJS.ReadableStream }): Tui {
  const app: Plain = {
    lines: createInterface({ input: options.input, terminal: false }),
    version: options.version,
    transcript: emptyTranscript(),
    host: undefined,
    queue: [],
    questions: [],
    offers: createOffers(say),
    picking: undefined,
    stops: new Set(),
    works: new Set(),
    lent: false,
    resume: () => void options.input.resume(),
    interruptedAt: 0,
    leave: () => {},
  };
  app.lines.on("line", (line) => onLine(app, line));
  app.lines.on("close", () => {
    app.picking?.settle(undefined);
    app.leave({ type: "quit" });
  });
  process.on("SIGINT", () => {
    if (!app.lent) onInterrupt(app);
  });
  return {
    person: personOf(app),
    attach: (host, beginning) => attach(app, host, beginning),
    pick: (request) => pick(app, request),
    lend: (use) => lend(app, use),
    warn: (text) => say([`! ${text}`]),
    stopped: () => stopped(app),
    close: () => app.lines.close(),
  };
}

function say(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
}

/** Prints rows without bars, which a screen reader cannot read. */
function print(rows: readonly Row[]): void {
  const lines = rows.map((row) =>
    plain(row)
      .replaceAll(/[█▉▊▋▌▍▎▏·]{4,}/g, "")
      .trimEnd(),
  );
  say(lines.filter((line) => line !== ""));
}

function rowContext(host: Host): RowContext {
  return { cwd: host.cwd, columns: process.stdout.columns || 80 };
}

function personOf(app: Plain): Person {
  return {
    ask: (question, signal, onShown) => ask(app, question, signal, onShown),
    takeQueued: () => app.queue.splice(0),
    onWaiting: app.offers.offer,
  };
}

function take(app: Plain, { transcript, rows }: Step): void {
  app.transcript = transcript;
  print(rows);
}

function attach(app: Plain, host: Host, { say: first, draft }: Beginning = {}): Promise<Leave> {
  app.host = host;
  app.transcript = emptyTranscript();
  const events = host.log.events();
  print([...welcomeRows(events, app.version, host.shortCwd), ...pastRows(events, rowContext(host))]);
  say(ownNotes(host.actions.own()).map((text) => `! ${text}`));
  const unfollow = host.follow((happening) => {
    if (happening.type === "part") take(app, addPart(app.transcript, happening.part, rowContext(host)));
    if (happening.type === "event")
      take(app, addEvent(app.transcript, happening.event, host.log.events(), rowContext(host)));
  });
  // No text can be put into a line that the terminal itself edits.
  if (draft !== undefined) say(["Your message was:", ...draft.split("\n").map(safe)]);
  if (first !== undefined) void turn(app, host, [typedMessage(first)]);
  const exit = new Promise<Leave>((resolve) => {
    app.leave = resolve;
  });
  return exit.finally(() => stopped(app)).finally(unfollow);
}

function onLine(app: Plain, line: string): void {
  if (app.lent) return;
  const { host } = app;
  const [pending] = app.questions;
  const text = line.trim();
  if (pending?.form) onEntry(pending, pending.form, line);
  else if (pending) onAnswer(app, pending, line);
  else if (app.picking) onPick(app, app.picking, line);
  else if (app.offers.onLine(line) || !host || text === "") return;
  else if (commandIn(text))
    void runCommand(app, host, text).catch((error: Error) => say([`! ${safe(error.message)}`]));
  else if (text.startsWith("!")) void runShell(app, host, text.slice(1).trim());
  else if (app.stops.size === 0) void turn(app, host, [typedMessage(line)]);
  else {
    app.queue.push(typedMessage(line));
    say(["queued for the next step"]);
  }
}

async function lend<T>(app: Plain, use: (typed: string) => Promise<T>): Promise<T> {
  app.lent = true;
  try {
    return await use("");
  } finally {
    app.lent = false;
    app.resume();
  }
}

function pick(app: Plain, request: PickRequest): Promise<string | undefined> {
  return new Promise((resolve) => {
    const picker = plainPicker(request);
    const settle = (id: string | undefined) => {
      app.picking = undefined;
      resolve(id);
    };
    app.picking = { picker, settle };
    say(plainList(picker));
  });
}

function onPick(app: Plain, picking: Picking, line: string): void {
  const reaction = onPickLine(picking.picker, line);
  if (reaction.type === "picked") picking.settle(reaction.id);
  else if (reaction.type === "closed") picking.settle(undefined);
  else {
    app.picking = { ...picking, picker: reaction.picker };
    say(reaction.lines);
  }
}

/** Interrupts; a second press within a second, or one without a turn, leaves. */
function onInterrupt(app: Plain): void {
  const now = Date.now();
  if (app.picking) {
    app.picking.settle(undefined);
    return;
  }
  const leaves = app.stops.size === 0 || now - app.interruptedAt < 1000;
  app.interruptedAt = now;
  if (leaves) app.leave({ type: "quit" });
  else for (const stop of app.stops) stop.abort("interrupted");
}

async function turn(app: Plain, host: Host, messages: readonly Queued[]): Promise<void> {
  await stoppable(app, (signal) => host.turn(messages, signal));
  say(["ready"]);
  await sendQueue(app, host);
}

/** Sends what came meanwhile; the output of a command is said with it, or with the next message. */
async function sendQueue(app: Plain, host: Host): Promise<void> {
  const waiting = app.queue.splice(0);
  for (const { content, shell } of waiting) if (shell) host.say(content, shell);
  const messages = waiting.filter(({ shell }) => shell === undefined);
  if (messages.length > 0) await turn(app, host, messages);
}

async function stoppable<T>(app: Plain, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const work = action(stop.signal);
  app.stops.add(stop);
  app.works.add(work);
  try {
    return await work;
  } finally {
    app.stops.delete(stop);
    app.works.delete(work);
  }
}

const patienceMs = 2500;

async function stopped(app: Plain): Promise<void> {
  for (const stop of app.stops) stop.abort("interrupted");
  await Promise.race([Promise.allSettled(app.works), sleep(patienceMs, undefined, { ref: false })]);
}

async function runShell(app: Plain, host: Host, command: string): Promise<void> {
  const busy = app.stops.size > 0;
  const text = await stoppable(app, (signal) => {
    const watching = { onProgress: () => {}, onWaiting: app.offers.offer };
    return host.shell(command, signal, watching);
  });
  const [content, shell] = [[{ type: "text" as const, text }], { command }];
  if (busy) app.queue.push({ content, shell, typed: false });
  else host.say(content, shell);
  say(shellOutput(text, command).split("\n").map(safe));
}

async function runCommand(app: Plain, host: Host, line: string): Promise<void> {
  const { name, argument } = commandIn(line) ?? { name: "", argument: "" };
  const commands = commandsOf(host);
  const command = commands.find((each) => each.name === name);
  if (!command) return say([`Unknown command /${name}. Type /help for a list`]);
  await command.run(argument, {
    host,
    commands,
    events: host.log.events(),
    columns: rowContext(host).columns,
    busy: app.stops.size > 0,
    print,
    notice: (text) => say([text]),
    leave: (exit) => app.leave(exit),
    pick: (request) => pick(app, request),
    say: (text) =>
      app.stops.size > 0
        ? void app.queue.push(typedMessage(text))
        : void turn(app, host, [typedMessage(text)]),
    send(content) {
      if (content.length === 0) return;
      const message = { content, typed: false };
      if (app.stops.size > 0) app.queue.push(message);
      else void turn(app, host, [message]);
    },
    confirm: async (title, rows, signal = new AbortController().signal) =>
      (await ask(app, { title, rows }, signal)).decision === "allow",
    async work(what, action) {
      say([`${what} …`]);
      await stoppable(app, action).finally(() => sendQueue(app, host));
    },
    changed: () => {},
  });
}

function ask(
  app: Plain,
  question: Question | Confirmation,
  signal: AbortSignal,
  onShown?: () => void,
): Promise<Answer> {
  return new Promise((resolve) => {
    const answer = (given: Answer) => {
      const wasShown = app.questions[0] === pending;
      app.questions = app.questions.filter((each) => each !== pending);
      signal.removeEventListener("abort", withdraw);
      resolve(given);
      if (wasShown) showQuestion(app);
    };
    const { form } = pendingQuestion(0, question);
    const pending: OpenQuestion = { question, answer, instead: false, form, onShown };
    const withdraw = () => answer({ decision: "deny", say: "" });
    if (signal.aborted) return withdraw();
    signal.addEventListener("abort", withdraw);
    app.questions.push(pending);
    if (app.questions.length === 1) showQuestion(app);
  });
}

function showQuestion(app: Plain): void {
  const [question] = app.questions;
  if (!question || !app.host) return;
  const { form } = question;
  if (form) print(askedRows(question.question, rowContext(app.host)));
  else print(dialogRows({ id: 0, question: question.question, choice: -1 }, rowContext(app.host), 1000));
  say(form ? formLines(form) : ["Answer with a number."]);
  question.onShown?.();
}

function onEntry(question: OpenQuestion, form: Form, line: string): void {
  const reaction = onFormLine(form, line);
  if ("answer" in reaction) question.answer(reaction.answer);
  else {
    question.form = reaction.form;
    say(reaction.lines);
  }
}

function onAnswer(app: Plain, question: OpenQuestion, line: string): void {
  const answer = question.instead
    ? { decision: "deny" as const, say: line.trim() }
    : answerOf(question.question, line);
  if (answer === undefined) showQuestion(app);
  else if (answer !== "instead") question.answer(answer);
  else {
    question.instead = true;
    say(["What should it do instead? Leave the line empty to just say no."]);
  }
}
