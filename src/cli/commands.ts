/** The commands without a screen of their own, in one file so that start-up reads one; `-p` is in run-headless.ts. */

import { converse } from "../app/conversation.ts";
import { checkProcesses, machineAt } from "../app/machine.ts";
import { encodingOf } from "../app/models.ts";
import { sessionRoot } from "../app/opening/folders.ts";
import { openForUndo } from "../app/opening/for-undo.ts";
import { packagePath, packageVersion } from "../app/prompts.ts";
import { storedEvents, storedList } from "../app/stored-sessions.ts";
import { UsageError } from "../core/errors.ts";
import type { LogEvent } from "../core/events.ts";
import { whyUnwritable } from "../disk/error-words.ts";
import { saveFile } from "../disk/replace-file.ts";
import { reportText, stepBody } from "../report/text/report.ts";
import { type Command, isCompare } from "./arguments/arguments.ts";
import type { FlagsOf } from "./arguments/options.ts";
import { runDemo } from "./commands/demo.ts";
import { sessionsOutput } from "./commands/sessions.ts";
import { writeError, writeOut } from "./terminal-output.ts";

type Headless = Exclude<Command, { name: "run" | "help" | "version" | "replay" | "acp" }>;

/** Runs the command and returns the exit code. */
export async function runCommand(command: Headless): Promise<number> {
  switch (command.name) {
    case "fix": {
      const { checkSandbox } = await import("../app/sandbox/check-sandbox.ts");
      const { runFix } = await import("./fix/fix.ts");
      return runFix(command.flags, { converse, processes: checkProcesses, checkSandbox });
    }
    case "batch": {
      if (isCompare(command.flags, command.operands))
        return (await import("./compare/compare.ts")).runCompare(command.operands.slice(1), command.flags);
      const { batchPorts } = await import("./batch/run.ts");
      const { runBatch } = await import("./batch/batch.ts");
      return runBatch(command.operands, command.flags, batchPorts(checkProcesses));
    }
    case "schema":
      return say((await import("./schema/schema.ts")).schemaText(command.operands));
    case "demo":
      return runDemo(command.flags, converse);
    case "report":
      return report(command);
    case "egress":
      return egress(command);
    case "sessions":
      return say(
        await sessionsOutput(command.operands, command.flags, storedSessions(configuredRoot(command))),
      );
    case "undo":
      return undo(command);
    case "models": {
      const { modelsOutput } = await import("./commands/models.ts");
      return say(await modelsOutput(command.operands, command.flags, { env: process.env, warn: complain }));
    }
    case "mcp": {
      const { runMcp } = await import("./commands/mcp.ts");
      return runMcp(command.operands, command.flags, { env: process.env, cwd: process.cwd(), say });
    }
    case "plugin": {
      const { runPlugin } = await import("./commands/plugin.ts");
      return runPlugin(command.operands, command.flags, { env: process.env, cwd: process.cwd(), say });
    }
    case "update":
      return update(command.operands);
    case "completion": {
      const { completionOutput } = await import("./completion/completion.ts");
      return say(
        await completionOutput(command.operands, {
          env: process.env,
          cwd: process.cwd(),
          root: configuredRoot(command),
        }),
      );
    }
    case "doctor":
      return doctor(command.flags, configuredRoot(command));
    case "login":
      return (await import("./commands/login.ts")).runLogin(command.operands);
    case "logout":
      return (await import("./commands/login.ts")).runLogout(command.operands);
  }
}

async function update(operands: readonly string[]): Promise<number> {
  const { updateOutput } = await import("./update/update.ts");
  const place = { env: process.env, root: packagePath("."), version: packageVersion() };
  return say(await updateOutput(operands, place));
}

function storedSessions(root: string) {
  return {
    list: (cwd: string | undefined) => storedList(root, cwd),
    read: (id: string | undefined) => storedEvents(root, id, complain),
  };
}

async function undo(command: Extract<Headless, { name: "undo" }>): Promise<number> {
  const { runUndo } = await import("./commands/undo.ts");
  const open = (id: string | undefined) => openForUndo(configuredRoot(command), id, complain);
  const { text, exitCode } = await runUndo(command.operands, command.flags, open);
  say(text);
  return exitCode;
}

async function doctor({ clean }: FlagsOf<"doctor">, sessionRoot: string): Promise<number> {
  const { doctorChecks, doctorExitCode, doctorText } = await import("./commands/doctor.ts");
  const checks = await doctorChecks(machineAt(sessionRoot), clean);
  say(doctorText(checks, packageVersion()));
  return doctorExitCode(checks);
}

function configuredRoot({ flags }: Headless): string {
  return sessionRoot({ flags, env: process.env, cwd: process.cwd() });
}

async function report(command: Extract<Headless, { name: "report" }>): Promise<number> {
  const { step, html, verbose, resume, serve } = command.flags;
  if (serve) {
    const { runServe } = await import("./commands/report-serve.ts");
    return runServe(configuredRoot(command), command.operands[0] ?? resume, complain);
  }
  const events = storedEvents(configuredRoot(command), command.operands[0] ?? resume, complain);
  if (html !== undefined) return writePage(html, events);
  if (step === undefined) return say(reportText(events, { verbose }));
  return say(`${stepBody(events, step, await encodingOf(events))}\n`);
}

async function egress(command: Extract<Headless, { name: "egress" }>): Promise<number> {
  const { egressReport } = await import("../report/text/egress.ts");
  const id = command.operands[0] ?? command.flags.resume;
  return say(egressReport(storedEvents(configuredRoot(command), id, complain)));
}

/** Writes for the owner only, like the session. Throws `UsageError` when the file cannot be written. */
async function writePage(file: string, events: readonly LogEvent[]): Promise<number> {
  const { reportHtml } = await import("../report/page/html.ts");
  const page = reportHtml(events, await encodingOf(events));
  try {
    saveFile(file, page, { mode: 0o600, make: false });
  } catch (error) {
    throw new UsageError(whyUnwritable(file, error));
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
