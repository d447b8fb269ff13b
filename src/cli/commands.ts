/** The commands without a screen of their own, in one file so that start-up reads one. */

import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { encodingOf } from "../app/models.ts";
import { openRun, sessionRoot } from "../app/open-session.ts";
import { UsageError } from "../core/errors.ts";
import type { LogEvent } from "../core/events.ts";
import { reportText, stepBody } from "../report/text/report.ts";
import { listSessions, sessionFolders } from "../session/listing.ts";
import { staleLocks } from "../session/lock.ts";
import { readSession } from "../session/store.ts";
import { childEnvironment } from "../tools/bash/shell/environment.ts";
import { openProcessTable } from "../tools/bash/shell/open-process-table.ts";
import { agentMark, endOrphans, findOrphans } from "../tools/bash/shell/orphans.ts";
import { sessionProcesses, signal } from "../tools/bash/shell/process-table.ts";
import { openTerminal } from "../tools/bash/shell/terminal.ts";
import { openStoredSnapshots } from "../undo/stored.ts";
import type { Command } from "./arguments/arguments.ts";
import type { FlagsOf } from "./arguments/options.ts";
import type { CheckProcesses } from "./checks/check.ts";
import { runDemo } from "./commands/demo.ts";
import type { Machine } from "./commands/doctor.ts";
import { sessionsOutput } from "./commands/sessions.ts";
import { runPrint } from "./headless/print.ts";
import { writeError, writeOut } from "./terminal-output.ts";

type Headless = Exclude<Command, { name: "help" | "version" | "replay" }>;

/** Runs the command and returns the exit code. */
export async function runCommand(command: Headless): Promise<number> {
  switch (command.name) {
    case "run":
      return runPrint(command.prompt, command.flags, openRun);
    case "fix":
      return (await import("./fix/fix.ts")).runFix(command.flags, {
        openRun,
        processes: checkProcesses,
      });
    case "batch": {
      const { batchPorts } = await import("./batch/run.ts");
      const { runBatch } = await import("./batch/batch.ts");
      return runBatch(command.operands, command.flags, batchPorts(checkProcesses));
    }
    case "schema":
      return say((await import("./schema/schema.ts")).schemaText(command.operands));
    case "demo":
      return runDemo(command.flags, openRun);
    case "report":
      return report(command);
    case "sessions":
      return say(await sessionsOutput(command.operands, command.flags, storedSessions(place(command))));
    case "undo":
      return undo(command);
    case "doctor":
      return doctor(command.flags, place(command));
  }
}

function storedSessions(root: string) {
  return {
    list: (cwd: string | undefined) => listSessions(root, cwd),
    read(id: string | undefined) {
      const which = id ? { id } : { newest: true, cwd: process.cwd() };
      return readSession({ root, ...which, warn: complain }).events;
    },
  };
}

async function undo(command: Extract<Headless, { name: "undo" }>): Promise<number> {
  const { runUndo } = await import("./commands/undo.ts");
  const outside = { root: place(command), cwd: process.cwd(), clock: Date.now, warn: complain };
  const open = (id: string | undefined) => openStoredSnapshots({ id, ...outside });
  const { text, exitCode } = await runUndo(command.operands, command.flags, open);
  say(text);
  return exitCode;
}

async function doctor({ clean }: FlagsOf<"doctor">, sessionRoot: string): Promise<number> {
  const { doctorChecks, doctorExitCode, doctorText, version } = await import("./commands/doctor.ts");
  const checks = await doctorChecks(machineAt(sessionRoot), clean);
  say(doctorText(checks, version()));
  return doctorExitCode(checks);
}

/** This machine, as `doctor` examines it. */
export function machineAt(sessionRoot: string): Machine {
  const locks = () => sessionFolders(sessionRoot).flatMap(staleLocks);
  return {
    ...{ sessionRoot, env: process.env, output: process.stdout },
    async hasPty() {
      const terminal = await openTerminal(process.env);
      terminal?.close();
      return terminal !== undefined;
    },
    leftovers: () => findOrphans(sessionRoot),
    endLeftovers: () => endOrphans(findOrphans(sessionRoot)),
    staleLocks: locks,
    removeStaleLocks: () => {
      for (const lock of locks()) rmSync(lock, { force: true });
    },
  };
}

/** Checks get what the agent's own shell gets: no keys, no pagers; and they end as a whole. */
const checkProcesses: CheckProcesses = {
  environment(mark) {
    // Node's test runner takes the mark of another one as an order to print for a machine.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return childEnvironment(env, { sessionId: mark, stateFolder: tmpdir(), agent: agentMark() });
  },
  async endMarked(mark) {
    const processes = openProcessTable();
    for (const { pid } of sessionProcesses(processes, processes.all(), mark, undefined))
      signal(pid, "SIGKILL");
  },
};

function place({ flags }: Headless): string {
  return sessionRoot({ flags, env: process.env, cwd: process.cwd() });
}

async function report(command: Extract<Headless, { name: "report" }>): Promise<number> {
  const { step, html, verbose, resume } = command.flags;
  const id = command.operands[0] ?? resume;
  const which = id ? { id } : { newest: true, cwd: process.cwd() };
  const { events } = readSession({ root: place(command), ...which, warn: complain });
  if (html !== undefined) return writePage(html, events);
  if (step === undefined) return say(reportText(events, { verbose }));
  return say(`${stepBody(events, step, encodingOf(events))}\n`);
}

/** Only for its owner, as the session is. Throws `UsageError` when the file cannot be written. */
async function writePage(file: string, events: readonly LogEvent[]): Promise<number> {
  const { reportHtml } = await import("../report/page/html.ts");
  const page = reportHtml(events, encodingOf(events));
  try {
    writeFileSync(file, page, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
  return say(`${file}: ${Math.ceil(Buffer.byteLength(page) / 1024)} KiB, opens in any browser\n`);
}

function complain(text: string): void {
  writeError(`sawtooth: ${text}\n`);
}

function say(text: string): number {
  writeOut(text);
  return 0;
}
