/** The slash commands as a table of plain objects, from which `/help` is generated. */

import { permissionModes } from "../../core/decision.ts";
import type { BackgroundJob, KeepOutcome } from "../../core/ports.ts";
import { allOf } from "../../core/questions.ts";
import { efforts } from "../../core/request.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import type { Host } from "../ports/session.ts";
import { cutRow, type Row } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";
import { contextCommands } from "./context.ts";
import { egressCommands } from "./egress.ts";
import { fileCommands } from "./files.ts";
import { modelCommands } from "./model.ts";
import { ownCommands, skillCommands } from "./own.ts";
import { permissionCommands } from "./permissions.ts";
import { promptCommands } from "./prompts.ts";
import { sandboxCommands } from "./sandbox.ts";
import { serverCommands } from "./servers.ts";
import { sessionCommands } from "./sessions.ts";

/** Commands of every session. */
export const commands: readonly Command[] = [
  {
    name: "help",
    summary: "keys and commands",
    run: (_, { commands: all, print, columns }) => print(helpRows(all, columns)),
  },
  ...contextCommands,
  ...modelCommands,
  {
    name: "effort",
    summary: "how hard the model thinks",
    argument: efforts.join("|"),
    run: setEffort,
  },
  {
    name: "jobs",
    summary: "background jobs: list them, stop one, or keep one after the session",
    argument: "stop <pid>|keep <pid>|clean",
    run: manageJobs,
  },
  ...serverCommands,
  ...permissionCommands,
  ...egressCommands,
  ...sandboxCommands,
  ...sessionCommands,
  ...fileCommands,
  ...skillCommands,
  {
    name: "clear",
    summary: "start a new session; this one stays stored",
    run: (_, { busy, notice, leave }) => (busy ? notice(busyNotice) : leave({ type: "open" })),
  },
  {
    name: "exit",
    summary: "leave; the session stays stored",
    run: (_, { leave }) => leave({ type: "quit" }),
  },
];

/**
 * Returns all commands, including those from Markdown files of the user and, once trusted, of the project, and the
 * prompts of servers.
 */
export function commandsOf({ actions, mcp }: Pick<Host, "actions" | "mcp">): readonly Command[] {
  return [...commands, ...ownCommands(actions.own().commands), ...promptCommands(mcp.prompts())];
}

function setEffort(argument: string, { host, events, busy, notice, print }: CommandContext): void {
  if (!efforts.some((effort) => effort === argument)) notice(`/effort takes one of ${efforts.join(", ")}`);
  else if (busy) notice(busyNotice);
  else {
    host.setEffort(argument);
    if (allOf(events, "assistant_message").length === 0) return;
    const text = "  the next request reads nothing from the cache, and earlier thinking is left out";
    print([[{ text, tone: "dim" }]]);
  }
}

async function manageJobs(argument: string, { host, columns, notice, print }: CommandContext): Promise<void> {
  const [verb, pid] = argument.split(/\s+/);
  if (!verb) return print(jobRows(host.jobs.list(), columns));
  if (verb === "clean") return notice(await endOrphans(host));
  if (!/^(stop|keep)$/.test(verb) || !/^\d+$/.test(pid ?? ""))
    return notice("Usage: /jobs [stop <pid>|keep <pid>|clean]");
  const job = Number(pid);
  notice(verb === "stop" ? stopped(job, await host.jobs.stop(job)) : keptWords(job, host.jobs.keep(job)));
}

function stopped(job: number, done: boolean): string {
  return done ? `job ${job} ended` : `No running job ${job}`;
}

function keptWords(job: number, outcome: KeepOutcome): string {
  switch (outcome) {
    case "kept":
      return `job ${job} keeps running after the session`;
    case "not_running":
      return `No running job ${job}`;
    case "ends_with_sandbox":
      return `job ${job} runs in the sandbox and ends with it: a kept job has to run outside, with --sandbox off`;
  }
}

function jobRows(jobs: readonly BackgroundJob[], columns: number): Row[] {
  if (jobs.length === 0) return [[{ text: "  No background jobs", tone: "dim" }]];
  return jobs.flatMap(({ pid, command, log, state, kept }): Row[] => [
    cutRow([{ text: `  ${pid}  ${state}${kept ? ", kept" : ""}  ${cleanLine(command)}` }], columns),
    cutRow([{ text: `      ${log}`, tone: "dim" }], columns),
  ]);
}

const keys: [string, string][] = [
  ["Enter", "send; while it is working, queue for the next step"],
  ["Alt-Enter, Ctrl-J, \\ Enter", "a new line"],
  ["Esc", "interrupt, or close what is open; twice: rewind"],
  ["Ctrl-C", "clear the line, or interrupt; twice: quit"],
  ["Up, Down, Ctrl-R", "earlier input; search it"],
  ["Shift-Tab", `next permission mode: ${permissionModes.join(", ")}`],
  ["Ctrl-O", "show the latest calls in full"],
  ["Ctrl-T", "show thinking in full, or in one line"],
  ["Ctrl-G", "edit the message in $EDITOR"],
  ["Ctrl-V", "attach the picture in the clipboard"],
  ["Ctrl-Z", "suspend"],
  ["Ctrl-]", "type in the terminal of a waiting command; again: back"],
  ["@ name", "mention a file"],
  ["! command", "run it in the session's shell"],
];

function helpRows(all: readonly Command[], columns: number): Row[] {
  const line = (name: string, text: string): Row => [
    { text: `  ${name.padEnd(28)}`, tone: "accent" },
    { text, tone: "dim" },
  ];
  return [
    ...all.map(({ name, summary, argument }) =>
      line(`/${name}${argument ? " …" : ""}`, argument ? `${summary}: ${argument}` : summary),
    ),
    [],
    ...keys.map(([name, text]) => line(name, text)),
  ].map((row) => cutRow(row, columns));
}

/** Runs `/jobs clean`; returns the outcome as one line. */
async function endOrphans({ orphans }: Host): Promise<string> {
  const found = orphans.find();
  if (found.length === 0) return "no processes left by killed runs";
  await orphans.end();
  const rest = orphans.find();
  if (rest.length > 0) return `these could not be ended: ${rest.map(({ pid }) => pid).join(" ")}`;
  return `ended ${found.length === 1 ? "1 process" : `${found.length} processes`} of killed runs`;
}
