/**
 * Every way a session's shell ends: nothing runs on, bash does not crash, and nothing of ours lies in the workspace.
 */

import type { ChildProcess } from "node:child_process";

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backends, type Fixture, hasTerminal, isInside, openFixture, until } from "./shell-fixture.ts";

/** How each bash that was started here has ended: its status, or the name of the signal. */
const endings: (number | string)[] = [];
const crashes = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE"];
const crashStatus = crashes.map((name) => 128 + constants.signals[name as NodeJS.Signals]);

function noteEnding(message: unknown): void {
  const { process: child } = message as { process: ChildProcess };
  child.once("exit", (code, signal) => endings.push(signal ?? code ?? -1));
}

beforeEach(() => {
  endings.length = 0;
  subscribe("child_process", noteEnding);
});
afterEach(() => void unsubscribe("child_process", noteEnding));

type Ending = {
  name: string;
  /** Commands that are run to their end before. */
  before?: (string | Record<string, unknown>)[];
  /** A command that runs while the shell is ended. */
  during?: string | Record<string, unknown>;
  end?: (shell: Fixture) => Promise<unknown>;
  needsTerminal?: true;
};

const close = ({ shell }: Fixture) => shell.close();
const ended: Ending[] = [
  { name: "before its first command" },
  { name: "after a command", before: ["echo a"] },
  {
    name: "after many commands of different lengths",
    before: ["echo a", `: ${"x".repeat(3000)}`, "b=1", ":"],
  },
  { name: "after a command that failed under set -e", before: ["set -e; false"] },
  { name: "after an unfinished command", before: ["cat <<EOF\nx", "echo $(", "if true; then"] },
  { name: "after an interrupted command", before: [{ command: "sleep 60", timeout_s: 0.1 }] },
  { name: "after exit", before: ["exit 3"] },
  { name: "after kill -9 of itself", before: ["kill -9 $$"] },
  { name: "with a trap for its exit", before: ["trap 'echo bye' EXIT"] },
  { name: "with traps of its own for every signal", before: ["trap 'x=1' HUP INT TERM USR1 USR2 QUIT PIPE"] },
  { name: "ignoring every signal", before: ["trap '' {1..64}"] },
  { name: "with a DEBUG trap, tracing", before: ["set -xT; trap ': dbg' DEBUG"] },
  { name: "with a background process", before: ["sleep 60 &"] },
  { name: "with a process in a session of its own", before: ["setsid sleep 60 &"] },
  { name: "with a daemon that has lost its parents", before: ["(setsid bash -c 'sleep 60 & sleep 61 &' &)"] },
  {
    name: "with a stubborn background process",
    before: ["nohup bash -c 'trap \"\" HUP INT TERM; sleep 60' & disown"],
  },
  { name: "with a stopped background process", before: ["sleep 60 & kill -STOP $!"] },
  { name: "with a background job", before: [{ command: "sleep 60 | cat; sleep 61", background: true }] },
  { name: "in the middle of a program", during: "sleep 60; echo x >stray" },
  { name: "in the middle of a loop of its own", during: "while :; do :; done; echo x >stray" },
  {
    name: "in the middle of a stubborn program",
    during: "bash -c 'trap \"\" INT TERM HUP; sleep 60'; echo x >stray",
  },
  { name: "in the middle of a command that ignores every signal", during: "trap '' {1..64}; sleep 60; :" },
  { name: "in the middle of a command that traps USR2", during: "trap 'x=1' USR2; sleep 60; echo x >stray" },
  // Inside of a sandbox the keeper continues a shell that stops itself.
  ...(isInside ? [] : [{ name: "stopped", during: "kill -STOP $$; echo x >stray" }]),
  { name: "replaced by another program", during: "exec sleep 60" },
  {
    name: "while a command waits for input",
    before: [{ command: "read x </dev/tty; echo x >stray", timeout_s: 60 }],
    needsTerminal: true,
  },
  {
    name: "while a program has its terminal",
    during: { command: "cat; echo x >stray", tty: true },
    needsTerminal: true,
  },
  {
    name: "by a restart in the middle",
    before: ["sleep 60 &"],
    end: ({ shell }) => shell.restart().then(() => shell.close()),
  },
  {
    name: "by the exit of our process",
    before: ["sleep 60 & setsid sleep 61 &"],
    end: async ({ shell }) => shell.killAll(),
  },
  {
    name: "by the exit of our process in the middle",
    during: "sleep 60; echo x >stray",
    end: async ({ shell }) => shell.killAll(),
  },
];

describe.each(backends)("a shell over %s", (backend) => {
  const cases = ended.filter(({ needsTerminal }) => !needsTerminal || (backend === "pty" && hasTerminal));

  test.each(cases)(
    "leaves nothing behind when it ends $name",
    async ({ before = [], during, end = close }) => {
      const shell = openFixture(backend);
      for (const command of before) await shell.call(command);
      const running = during && shell.call(during);
      if (running) await started(shell);
      await end(shell);
      await running;
      expect(await until(() => shell.processes().length === 0)).toBe(true);
      expect(await until(() => endings.length > 0 || before.length + (during ? 1 : 0) === 0)).toBe(true);
      expect(endings.filter(isCrash)).toEqual([]);
      expect(readdirSync(shell.work)).toEqual([]);
      await shell.dispose();
    },
  );
});

function isCrash(ending: number | string): boolean {
  return crashes.includes(String(ending)) || crashStatus.includes(Number(ending));
}

/** Waits until the shell has taken the command up: the staged file is there from its start to its end. */
function started({ state }: Fixture): Promise<boolean> {
  return until(() => readdirSync(join(state, "shell", "in")).includes("command.sh"));
}
