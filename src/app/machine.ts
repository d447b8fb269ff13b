/** This machine outside of a session: what doctor examines, the processes of checks, the browser. */

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { folders } from "../config/folders.ts";
import type { SandboxStatus } from "../core/sandbox.ts";
import { deadClaims } from "../disk/claim.ts";
import { withoutTerminals } from "../disk/without-terminals.ts";
import { sessionFolders } from "../session/listing.ts";
import { childEnvironment } from "../tools/bash/shell/environment.ts";
import { openProcessTable } from "../tools/bash/shell/open-process-table.ts";
import { agentMark, endOrphans, findOrphans } from "../tools/bash/shell/orphans.ts";
import { sessionProcesses, signal } from "../tools/bash/shell/process-table.ts";
import { openTerminal } from "../tools/bash/shell/terminal.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of the machine that other layers know. */
export type Machine = {
  env: Environment;
  /** Folder of all sessions. */
  sessionRoot: string;
  /** Tells whether a terminal for the shell can be opened. */
  hasPty(): Promise<boolean>;
  /** Tells which sandbox works here. */
  sandbox(): Promise<SandboxStatus>;
  /** Returns true when the names of hosts can be served in it. */
  canServeNames(): Promise<boolean>;
  orphans(): { pid: number; command: string }[];
  endOrphans(): Promise<void>;
  /** Locks of processes that are gone. */
  staleLocks(): string[];
  removeStaleLocks(): void;
  output: { isTTY?: boolean; columns?: number; rows?: number; getColorDepth?(): number };
};

/** How checks and set-ups are run. `mark` names the processes of one run of a check. */
export type CheckProcesses = {
  environment(mark: string): Record<string, string>;
  /** Ends whatever carries the mark. */
  endMarked(mark: string): Promise<void>;
};

/** This machine, as `doctor` examines it. */
export function machineAt(sessionRoot: string): Machine {
  const locks = () => sessionFolders(sessionRoot).flatMap(deadClaims);
  return {
    ...{ sessionRoot, env: process.env, output: process.stdout },
    canServeNames: async () => (await import("../network/door.ts")).canOpenDoors(),
    async sandbox() {
      const { findEngine } = await import("../sandbox/engine.ts");
      const cache = join(folders(process.env).state, "sandbox.json");
      return (await findEngine({ env: process.env, writable: [process.cwd()], cache })).status;
    },
    async hasPty() {
      const terminal = await openTerminal(process.env);
      terminal?.close();
      return terminal !== undefined;
    },
    orphans: () => findOrphans(sessionRoot),
    endOrphans: () => endOrphans(findOrphans(sessionRoot)),
    staleLocks: locks,
    removeStaleLocks: () => {
      for (const lock of locks()) rmSync(lock, { force: true });
    },
  };
}

/** Checks get what the agent's own shell gets: no keys, no pagers; and they end as a whole. */
export const checkProcesses: CheckProcesses = {
  environment(mark) {
    // Node's test runner takes the mark of another one as an order to print for a machine.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return childEnvironment(env, { sessionId: mark, stateFolder: tmpdir(), agent: agentMark() });
  },
  async endMarked(mark) {
    const processes = openProcessTable();
    for (const { pid } of sessionProcesses(processes, processes.all(), mark, {})) signal(pid, "SIGKILL");
  },
};

/** Ends at once every other process that was started with this variable and value in its environment. */
export function endFamily(variable: string, value: string): void {
  const { all, variableOf } = openProcessTable();
  for (const { pid } of all())
    if (pid !== process.pid && variableOf(pid, variable) === value) signal(pid, "SIGKILL");
}

/** How long the opener may take to fail. */
const openMs = 1500;

/** Opens a page in the browser; false where there is no display, or the opener says that it failed. */
export async function openPage(file: string, env: Environment): Promise<boolean> {
  const mac = process.platform === "darwin";
  if (!mac && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false;
  if (mac && env.SSH_CONNECTION) return false;
  const child = withoutTerminals(["ignore", "ignore", "ignore"], (stdio) =>
    spawn(mac ? "open" : "xdg-open", [file], { env: childEnvironment(env), stdio, detached: true }),
  );
  child.unref();
  const ended = new Promise<boolean>((resolveWith) => {
    child.on("error", () => resolveWith(false));
    child.on("exit", (code) => resolveWith(code === 0));
  });
  // A browser that was not running may stay in front of its opener.
  return Promise.race([ended, sleep(openMs, true, { ref: false })]);
}
