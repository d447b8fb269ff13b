/** A real shell in a temporary folder, and its tool, for tests. */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resultText } from "../../../src/core/blocks.ts";
import type { ToolOutput } from "../../../src/core/ports.ts";
import { createShell, type Shell, type ShellOptions } from "../../../src/tools/bash/shell/shell.ts";
import { type ShellTiming, usualTiming } from "../../../src/tools/bash/shell/timing.ts";
import { bashTool } from "../../../src/tools/bash/tool.ts";
import { engine, insideOf } from "../../sandbox/support.ts";
import { patienceMs } from "../../support/until.ts";

export type Backend = "pty" | "pipe";
export const backends: Backend[] = ["pty", "pipe"];
/** With SAWTOOTH_PTY=off the same tests run on pipes alone. */
export const hasTerminal = process.env.SAWTOOTH_PTY !== "off";

/** With SAWTOOTH_TEST_SANDBOX=on the same tests run inside of a sandbox. */
export const isInside = process.env.SAWTOOTH_TEST_SANDBOX === "on" && engine !== undefined;

export type Fixture = {
  shell: Shell;
  /** The workspace. */
  work: string;
  /** The session's folder. */
  state: string;
  sessionId: string;
  /** Runs a command, or any input, and gives the whole output. */
  call(input: string | Record<string, unknown>, options?: CallOptions): Promise<ToolOutput>;
  /** Only the text that the model reads. */
  text(input: string | Record<string, unknown>): Promise<string>;
  /** A second shell on the same state, as after a restart of the agent. */
  reopen(options?: Partial<ShellOptions>): Fixture;
  /** Command lines of all running processes of the session but its shell. */
  processes(): string[];
  dispose(): Promise<void>;
};

export type CallOptions = {
  signal?: AbortSignal;
  budgetTokens?: number;
  onProgress?: (text: string) => void;
};

/** Long enough for whatever behaves, short for what never does. */
const quickTiming: ShellTiming = {
  ...usualTiming,
  stop: { timeout: 250, interrupted: 120, too_large: 50, waiting: 120 },
  terminate: 200,
  stopJob: 200,
  readSilence: 250,
  waitSilence: 900,
};

/** A fixture with the given back end. Dispose of it in the end. */
export function openFixture(
  backend: Backend,
  env: Record<string, string | undefined> = {},
  options: Partial<ShellOptions> = {},
): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-shell-")));
  const [work, state] = [join(root, "work"), join(root, "session")];
  for (const folder of [work, state, join(state, "artifacts")]) mkdirSync(folder, { mode: 0o700 });
  const sessionId = root.slice(-6);
  const all = { ...process.env, HOME: work, ...env };
  return fixtureOver(
    { root, work, state, sessionId },
    { cwd: work, env: all, sessionId, stateFolder: state, backend, timing: quickTiming, ...options },
  );
}

type Workspace = { root: string; work: string; state: string; sessionId: string };

function fixtureOver(workspace: Workspace, options: ShellOptions): Fixture {
  const sandbox = isInside ? insideOf(workspace, { home: workspace.work }) : undefined;
  const shell = createShell(sandbox ? { sandbox: async () => sandbox, ...options } : options);
  const tool = bashTool({ description: "", shell });
  const artifacts = artifactsIn(join(workspace.state, "artifacts"));
  const call: Fixture["call"] = async (input, { signal, budgetTokens = 8000, onProgress = () => {} } = {}) =>
    tool.run(typeof input === "string" ? { command: input } : input, {
      toolUseId: "toolu_1",
      signal: signal ?? new AbortController().signal,
      events: [],
      access: { kind: "execute", command: "" },
      budgetTokens,
      artifacts,
      onProgress,
    });
  return {
    ...workspace,
    shell,
    call,
    text: async (input) => resultText((await call(input)).content),
    reopen: (more) => fixtureOver(workspace, { ...options, ...more }),
    processes: () => processesOf(workspace.sessionId),
    async dispose() {
      await shell.close();
      rmSync(workspace.root, { recursive: true, force: true });
    },
  };
}

function artifactsIn(folder: string) {
  let number = readdirSync(folder).length;
  const write = (extension: string, text: string) => {
    number += 1;
    const path = join(folder, `${String(number).padStart(6, "0")}.${extension}`);
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return path;
  };
  return { folder, write, create: (extension: string) => write(extension, "") };
}

/** Found independently of the code under test: by reading /proc. */
export function processesOf(sessionId: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
        if (!environment.includes(`SAWTOOTH_SESSION=${sessionId}\0`)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
        const isOurs = command.includes("--rcfile") || command.includes("--noprofile --norc");
        return command === "" || isOurs ? [] : [command];
      } catch {
        return [];
      }
    });
}

/** Waits until `isTrue`, at most `timeoutMs`; says whether it became true. */
export async function until(isTrue: () => boolean, timeoutMs = patienceMs): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!isTrue() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  return isTrue();
}
