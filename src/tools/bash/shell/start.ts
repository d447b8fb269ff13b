/** Stages a command in a file for the shell and starts it. */

import { appendFileSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job, Jobs } from "./jobs.ts";
import type { LiveShell, ShellLifecycle } from "./lifecycle.ts";
import type { ProcessTable } from "./process-table.ts";
import { backgroundLines, files, hasOddParentheses, runLines, stagedCommand } from "./protocol.ts";
import type { RunningCommand } from "./running-command.ts";
import { createScreen } from "./screen.ts";
import type { SessionProcesses } from "./session-processes.ts";
import type { Terminal } from "./terminal.ts";
import type { ShellTiming } from "./timing.ts";

export type Session = {
  folder: string;
  lifecycle: ShellLifecycle;
  sessionProcesses: SessionProcesses;
  jobs: Jobs;
  processes: ProcessTable;
  timing: ShellTiming;
};
type Request = { outputPath: string; stdin?: string | undefined; tty?: boolean | undefined };

const printedBytes = 16 * 1024;

/** Starts `command` in the running shell. Throws when it needs a terminal and there is none. */
export async function startForeground(
  session: Session,
  command: string,
  request: Request,
): Promise<RunningCommand> {
  const { folder, lifecycle, sessionProcesses, processes, timing } = session;
  const { bash, terminal } = livingOf(lifecycle);
  const tty = request.tty === true;
  if (tty && !terminal) throw new Error("there is no terminal on this machine");
  const input = request.stdin === undefined ? undefined : stage(folder, files.stdin, request.stdin);
  const staged = stage(
    folder,
    files.command,
    stagedCommand(command, lifecycle.flags(), debugTrap(folder, lifecycle.flags())),
  );
  const running: RunningCommand = {
    command,
    output: request.outputPath,
    staged,
    bash,
    terminal,
    screen: tty && terminal ? await createScreen(terminal.columns, terminal.rows) : undefined,
    printed: { text: "", at: 0 },
    onPrinted: undefined,
    end: new Promise((resolve) => bash.onNext(resolve)),
    ended: false,
    hasStdin: input !== undefined,
    processes,
    timing,
    lastPid: processes.lastPid(),
    ownProcesses: sessionProcesses.foreground,
  };
  void running.end.then((end) => {
    running.ended = true;
    if ("number" in end) lifecycle.noteEnd(end);
  });
  terminal?.onData(printTo(running));
  const device = tty ? terminal?.path : undefined;
  const check = hasOddParentheses(command);
  const io = {
    folder,
    tty,
    check,
    input: input ?? device ?? "/dev/null",
    output: device ?? request.outputPath,
  };
  bash.send(runLines(lifecycle.nextNumber(), io));
  return running;
}

/** Removes the staged files of a command that has ended. */
export function removeStaged(folder: string, { hasStdin }: RunningCommand): void {
  for (const name of hasStdin ? [files.command, files.stdin] : [files.command]) {
    try {
      unlinkSync(join(folder, name));
    } catch {
      // The command may have removed it.
    }
  }
}

/** Starts `command` as a background job and returns once its pid is known. */
export async function startBackground(session: Session, command: string, request: Request): Promise<Job> {
  const { folder, lifecycle, jobs } = session;
  const { bash } = livingOf(lifecycle);
  const number = lifecycle.nextNumber();
  const mark = String(number);
  const name = `job-${mark}`;
  const input = request.stdin === undefined ? undefined : stage(folder, `${name}.stdin`, request.stdin);
  stage(folder, `${name}.sh`, `${command}\n`);
  for (const extension of ["pid", "status"]) stage(folder, `${name}.${extension}`, "");
  const ended = new Promise((resolve) => bash.onNext(resolve));
  const io = { folder, input: input ?? "/dev/null", output: request.outputPath, flags: lifecycle.flags() };
  // The shell does not keep our process alive; without a screen nothing else might.
  const awake = setInterval(() => {}, 1000);
  bash.send(backgroundLines(number, io));
  await ended;
  clearInterval(awake);
  const pid = Number(readFileSync(join(folder, `${name}.pid`), "utf8"));
  for (const extension of ["sh", "pid", "stdin"])
    rmSync(join(folder, `${name}.${extension}`), { force: true });
  return jobs.add({ pid, command, log: request.outputPath, mark });
}

/** Sends terminal bytes to the screen, and to the output file of a command that runs on the terminal. */
function printTo(running: RunningCommand): Parameters<Terminal["onData"]>[0] {
  return (bytes) => {
    running.printed.at = Date.now();
    running.printed.text = (running.printed.text + bytes.toString("utf8")).slice(-printedBytes);
    running.onPrinted?.(bytes);
    if (!running.screen) return;
    running.screen.write(bytes);
    appendFileSync(running.output, bytes);
  };
}

function stage(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function debugTrap(folder: string, flags: string): string {
  return flags.includes("D") ? readFileSync(join(folder, files.debugTrap), "utf8") : "";
}

function livingOf(lifecycle: ShellLifecycle): LiveShell {
  const living = lifecycle.current();
  if (!living) throw new Error("no shell is running");
  return living;
}
