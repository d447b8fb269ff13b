/** Stages a command in a file for the shell and starts it. */

import { randomUUID } from "node:crypto";
import { appendFileSync, linkSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readUntrusted, removeUntrusted } from "../../../disk/untrusted-file.ts";
import type { Job, Jobs } from "./jobs.ts";
import type { LiveShell, ShellLifecycle } from "./lifecycle.ts";
import { noPid, type ProcessTable, signal } from "./process-table.ts";
import {
  backgroundLines,
  files,
  hasOddParentheses,
  runLines,
  type ShellFolders,
  stagedCommand,
} from "./protocol.ts";
import type { RunningCommand } from "./running-command.ts";
import { createScreen } from "./screen.ts";
import type { SessionProcesses } from "./session-processes.ts";
import type { Terminal } from "./terminal.ts";
import type { ShellTiming } from "./timing.ts";

export type Session = {
  folders: ShellFolders;
  /** Folder in which a sandboxed command finds the file for its output. */
  outFolder: string;
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
  const { folders, lifecycle, sessionProcesses, processes, timing } = session;
  const { bash, terminal, box } = livingOf(lifecycle);
  const tty = request.tty === true;
  if (tty && !terminal) throw new Error("there is no terminal on this machine");
  const input = request.stdin === undefined ? undefined : stage(folders.in, files.stdin, request.stdin);
  const staged = stage(
    folders.in,
    files.command,
    stagedCommand(command, lifecycle.flags(), lifecycle.debugTrap()),
  );
  const written = box ? linkInto(session.outFolder, request.outputPath) : request.outputPath;
  const running: RunningCommand = {
    command,
    output: request.outputPath,
    outLink: written === request.outputPath ? undefined : written,
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
    folders,
    tty,
    check,
    input: input ?? device ?? "/dev/null",
    output: device ?? written,
  };
  bash.send(runLines(lifecycle.nextNumber(), io));
  return running;
}

/** Removes the staged files of a command that has ended. */
export function removeStaged({ in: folder }: ShellFolders, { hasStdin, outLink }: RunningCommand): void {
  // Without it the output can only be read.
  if (outLink !== undefined) removeUntrusted(outLink);
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
  const { folders, lifecycle, jobs, processes, timing } = session;
  const { bash, box } = livingOf(lifecycle);
  const number = lifecycle.nextNumber();
  const mark = String(number);
  const name = `job-${mark}`;
  const input = request.stdin === undefined ? undefined : stage(folders.in, `${name}.stdin`, request.stdin);
  stage(folders.in, `${name}.sh`, `${command}\n`);
  const written = box ? linkInto(session.outFolder, request.outputPath) : request.outputPath;
  const ended = new Promise((resolve) => bash.onNext(resolve));
  const io = { folders, input: input ?? "/dev/null", output: written, flags: lifecycle.flags() };
  // The shell does not keep our process alive; without a screen nothing else might.
  const awake = setInterval(() => {}, 1000);
  const late = setTimeout(() => signal(bash.pid, "SIGKILL"), timing.answer);
  bash.send(backgroundLines(number, io));
  await ended;
  clearInterval(awake);
  clearTimeout(late);
  const pid = Number(readUntrusted(join(folders.state, `${name}.pid`)) || noPid);
  for (const file of [`${name}.sh`, `${name}.stdin`]) rmSync(join(folders.in, file), { force: true });
  removeUntrusted(join(folders.state, `${name}.pid`));
  // The shell has opened it.
  if (box) removeUntrusted(written);
  const machinePid = box && (processes.outerPid(pid, box.pid) ?? noPid);
  const place = machinePid === undefined ? {} : { machinePid };
  return jobs.add({ pid, command, log: request.outputPath, mark, ...place });
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

/**
 * Gives the output file a second name, under which a sandboxed command can write it: under its own it can only read.
 */
function linkInto(folder: string, outputPath: string): string {
  // Of a store of random numbers, which costs a sixth of asking for some.
  const path = join(folder, randomUUID());
  linkSync(outputPath, path);
  return path;
}

function livingOf(lifecycle: ShellLifecycle): LiveShell {
  const living = lifecycle.current();
  if (!living) throw new Error("no shell is running");
  return living;
}
