/** Runs the real program from its source, in a home and a folder of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../../src/config/settings.ts";
import { entry, fastStart } from "./entry.ts";
import { until } from "./until.ts";
import { runWarm } from "./warm.ts";

export type Ended = { code: number | null; signal: string | null; stdout: string; stderr: string };

export type Workspace = {
  /** Fresh HOME and state. */
  home: string;
  /** The folder worked in. */
  cwd: string;
  env: Record<string, string>;
  remove(): void;
};

/** A fresh home with an empty workspace. `url`: where the strict server listens. */
export function makeWorkspace(url?: string): Workspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-tests-")));
  const home = join(root, "home");
  const cwd = join(root, "work");
  for (const folder of [home, cwd]) mkdirSync(folder);
  const env = {
    ...fastStart,
    PATH: process.env.PATH ?? "",
    HOME: home,
    LANG: "C.UTF-8",
    SAWTOOTH_HOME: join(home, "sawtooth"),
    ...(url ? { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-canary-7f3a" } : {}),
  };
  const remove = () => rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  const workspace = { home, cwd, env, remove };
  writeSettings(workspace, {});
  return workspace;
}

/**
 * Most tests are about something else than the sandbox, and on many machines there is none: commands run without it
 * unless a test asks for it, or SAWTOOTH_TEST_SANDBOX is "on".
 */
const usual: Settings = process.env.SAWTOOTH_TEST_SANDBOX === "on" ? {} : { sandbox: "off" };

/** Writes the person's settings: these, and the usual ones of tests. `sandbox: undefined` leaves it at its default. */
export function writeSettings({ env }: Pick<Workspace, "env">, settings: object): void {
  const config = join(env.SAWTOOTH_HOME ?? "", "config");
  mkdirSync(config, { recursive: true, mode: 0o700 });
  writeFileSync(join(config, "settings.json"), JSON.stringify({ ...usual, ...settings }), { mode: 0o600 });
}

export type Started = {
  child: ChildProcess;
  ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
  /** Waits for words on standard output. Throws when the program ends without them. */
  until(words: string): Promise<void>;
};

/** `input`: what stdin holds; "open": a pipe that is never written; without it stdin is /dev/null. */
export function start(
  workspace: Workspace,
  words: string[],
  options: { input?: string | "open"; env?: Record<string, string> } = {},
): Started {
  const child = spawn(process.execPath, [entry, ...words], {
    cwd: workspace.cwd,
    env: { ...workspace.env, ...options.env },
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  if (options.input !== undefined && options.input !== "open") child.stdin?.end(options.input);
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const heard = (words: string) => {
    if (stdout.includes(words)) return true;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`it ended without ${words}: ${stdout}${stderr}`);
    return false;
  };
  return {
    ...{ child, ended, stdout: () => stdout, stderr: () => stderr },
    until: (words) => until(() => heard(words), words),
  };
}

/** Read while a process starts, and never again. */
const readAtStart = ["NODE_OPTIONS", "LD_PRELOAD"];

/** With SAWTOOTH_TEST_BUILT=on no command line is run by a process of the source: each starts the built program. */
const isBuilt = process.env.SAWTOOTH_TEST_BUILT === "on";

/**
 * Runs a command line to its end. It gets a process of its own only when it needs one: for standard input, or variables
 * that are read at the start.
 */
export function sawtooth(
  workspace: Workspace,
  words: string[],
  options: { input?: string | "open"; env?: Record<string, string> } = {},
): Promise<Ended> {
  const env = { ...workspace.env, ...options.env };
  const needsOwn = isBuilt || options.input !== undefined || readAtStart.some((name) => name in env);
  if (needsOwn) return start(workspace, words, options).ended;
  return runWarm({ words, cwd: workspace.cwd, env });
}

/** The lines of `stream-json`. Throws when one is not JSON: stdout must hold nothing else. */
export function jsonLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
