/** Slash commands that switch between sessions, and go back in time. */

import { started } from "../../core/questions.ts";
import { sessionName } from "../../core/rewind.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import {
  branchBefore,
  messagesRequest,
  type RewindTarget,
  restoreRequest,
  rewindTargetAt,
} from "../dialogs/rewind.ts";
import { isEmpty, sessionsRequest } from "../dialogs/stored.ts";
import type { Open, StoredSession } from "../ports/sessions.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";

type Run = (argument: string, context: CommandContext) => void | Promise<void>;

export const sessionCommands: readonly Command[] = [
  {
    name: "resume",
    summary: "continue another session",
    argument: "[id or name]",
    run: atRest(resume),
  },
  {
    name: "fork",
    summary: "branch from this session or another",
    argument: "[id or name]",
    run: atRest(fork),
  },
  {
    name: "rewind",
    summary: "go back to before a message (Esc Esc)",
    run: atRest(rewind),
  },
  {
    name: "undo",
    summary: "undo the file changes of a turn",
    argument: "list|<n>|redo",
    run: atRest(undo),
  },
  {
    name: "name",
    summary: "show or set this session's name",
    argument: "[text]|-",
    run: withErrorRow(name),
  },
];

/** Shows an error as a line; the session continues. */
function withErrorRow(run: Run): Run {
  return async (argument, context) => {
    try {
      await run(argument, context);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      context.print(lines(error.message, context.columns, "warn"));
    }
  };
}

/** Runs a command only while nothing else runs, which it would tear apart. */
function atRest(run: Run): Run {
  return withErrorRow((argument, context) =>
    context.busy ? context.notice(busyNotice) : run(argument, context),
  );
}

function lines(text: string, columns: number, tone?: Row[0]["tone"]): Row[] {
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => wrap([{ text: `  ${safe(line)}`, tone }], columns, "    "));
}

async function resume(which: string, context: CommandContext): Promise<void> {
  const { host, notice, pick, leave } = context;
  const request = which === "" ? sessionsRequest(host.sessions, Date.now()) : undefined;
  if (request && isEmpty(request)) return notice("No other session is stored");
  const id = request ? await pick(request) : which;
  if (id === undefined) return;
  const found = host.sessions.find(id);
  if (found.id === idOf(context)) return notice("You are already in this session");
  if (found.openIn === undefined) return leave({ type: "open", resume: found.id });
  throw new Error(
    `session ${found.id} is in use by ${found.openIn}: close it there first, or branch from it with /fork ${found.id}`,
  );
}

function idOf({ events }: CommandContext): string {
  return started(events).sessionId;
}

function fork(which: string, context: CommandContext): void {
  const { host, events, notice, leave } = context;
  if (which !== "") leave(branchOf(host.sessions.find(which)));
  else if (!events.some(({ type }) => type === "user_message")) notice("No messages yet");
  else leave(branchOf({ id: idOf(context), name: sessionName(events) }));
}

/** Names a branch of its own: a name leads to one session. */
function branchOf({ id, name }: { id: string; name?: StoredSession["name"] | undefined }): Open {
  const called = name ? { append: [{ type: "session_named" as const, name: `${name} (branch)` }] } : {};
  return { type: "open", resume: id, fork: true, ...called };
}

function name(text: string, { host, events, print, columns }: CommandContext): void {
  const called = cleanLine(text).replaceAll(/\s+/g, " ").slice(0, longestName).toWellFormed().trim();
  const now = sessionName(events);
  if (called !== "")
    return void host.log.append({ type: "session_named", name: called === "-" ? "" : called });
  const words = now
    ? `This session is called ${now}. Change it with /name <name>.`
    : "This session has no name. Set one with /name <name>; resume it with sawtooth -r <name>.";
  print(lines(words, columns, "dim"));
}

const longestName = 80;

async function rewind(_: string, context: CommandContext): Promise<void> {
  const { host, events, pick, notice, print, columns } = context;
  const rows = await host.undo.list();
  const request = messagesRequest(events, rows, Date.now());
  if (request.items.length === 0) return notice("No messages yet");
  const seq = await pick(request);
  const target = seq === undefined ? undefined : rewindTargetAt(events, rows, Number(seq));
  const jobs = host.jobs.list().filter(({ state, kept }) => state === "running" && !kept).length;
  const choice = target && (await pick(restoreRequest(target, events, jobs)));
  if (!target || choice === undefined) return;
  if (choice !== "conversation" && target.snapshot !== undefined)
    print(lines(await host.undo.put({ to: target.snapshot }), columns));
  if (choice === "files") return;
  leaveFor(target, choice === "conversation", context);
}

function leaveFor(target: RewindTarget, filesStay: boolean, { host, events, leave }: CommandContext): void {
  const next = branchBefore(target, events, filesStay);
  const called = sessionName(events);
  // The name moves to where the work continues.
  if (called) host.log.append({ type: "session_named", name: `${called} (before going back)` });
  leave(next);
}

async function undo(argument: string, { host, notice, print, columns }: CommandContext): Promise<void> {
  if (argument === "list") return print(lines(await host.undo.text(), columns));
  if (argument !== "" && argument !== "redo" && !/^\d+$/.test(argument))
    return notice("Usage: /undo [list|<n>|redo]. Without an argument it undoes the last turn");
  const to = /^\d+$/.test(argument) ? { to: Number(argument) } : {};
  print(lines(await host.undo.put({ ...to, ...(argument === "redo" ? { redo: true } : {}) }), columns));
}
