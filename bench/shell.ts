/** The shell that the agent keeps: a command's round trip, and a flood of output. Beside plain bash. */

import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { followOutput } from "../src/tools/bash/output-file.ts";
import { createShell, type Shell } from "../src/tools/bash/shell/shell.ts";
import { figure, type Row, ratio } from "./figures.ts";
import { type Home, inHome, inTurn } from "./programs.ts";

const floodBytes = 50_000_000;
const flood = `yes "$(printf 'a line of output, %.0s' 1 2 3)" | head -c ${floodBytes}`;

/** `:` in the shell that is already there, beside a bash that is started for it. */
export async function roundTrip(): Promise<Row[]> {
  const { ours, bare } = await withShell((shell, home) =>
    inTurn(200, {
      bare: () => inPlainBash(":", home),
      ours: () => inShell(shell, ":", home),
    }),
  );
  const measured = figure(ours);
  const aim = { text: "≤ 1 ms", met: measured.median <= 1 };
  return [
    { name: "shell round trip", unit: "ms", measured, baseline: figure(bare), against: "bash -c :", aim },
  ];
}

/** 50 MB of lines: the time beside bash with its output in a file, and what our own memory grows by. */
export async function flooded(): Promise<Row[]> {
  const { ours, bare } = await withShell((shell, home) =>
    inTurn(9, {
      bare: async () => ({ ms: await inPlainBash(flood, home, floodBytes), grownMb: 0 }),
      ours: () => measuringMemory(() => inShell(shell, flood, home, floodBytes)),
    }),
  );
  const time = { measured: figure(ours.map(({ ms }) => ms)), baseline: figure(bare.map(({ ms }) => ms)) };
  const grown = figure(ours.map(({ grownMb }) => grownMb));
  const own = figure([process.memoryUsage.rss() / 1e6]);
  return [
    {
      name: "50 MB flood",
      unit: "ms",
      ...time,
      against: "bash to a file",
      aim: { text: "≤ 1.8 ×", met: ratio(time) <= 1.8 },
    },
    {
      name: "  memory it adds",
      unit: "MB",
      measured: grown,
      baseline: own,
      against: "whole process",
      aim: { text: "≤ 20 MB", met: grown.median <= 20 },
    },
  ];
}

function withShell<T>(use: (shell: Shell, home: Home) => Promise<T>): Promise<T> {
  return inHome(async (home) => {
    const stateFolder = join(home.folder, "session");
    mkdirSync(stateFolder, { mode: 0o700 });
    const shell = createShell({ cwd: home.folder, env: home.env, sessionId: "bench", stateFolder });
    try {
      return await use(shell, home);
    } finally {
      await shell.close();
    }
  });
}

/** Milliseconds of a command in the kept shell, its output in a file and the view of it made, as the tool does. */
async function inShell(shell: Shell, command: string, home: Home, bytes = 0): Promise<number> {
  const path = emptyFile(home);
  const began = performance.now();
  const output = followOutput(path);
  const { signal } = new AbortController();
  const io = { output, timeoutMs: 60_000, signal, onProgress: () => {} };
  const { status } = await shell.run(command, { ...io, outputPath: path });
  await output.view({ maxBytes: 8000, path });
  output.close();
  const ms = performance.now() - began;
  check(path, status, bytes);
  return ms;
}

async function inPlainBash(command: string, home: Home, bytes = 0): Promise<number> {
  const path = emptyFile(home);
  const file = openSync(path, "a");
  const began = performance.now();
  const child = spawn("bash", ["-c", command], { env: home.env, stdio: ["ignore", file, "ignore"] });
  const status = await new Promise((resolve) => child.on("close", resolve));
  const ms = performance.now() - began;
  closeSync(file);
  check(path, status, bytes);
  return ms;
}

function emptyFile(home: Home): string {
  const path = join(home.folder, "output");
  closeSync(openSync(path, "w"));
  return path;
}

function check(path: string, status: unknown, bytes: number): void {
  const { size } = statSync(path);
  rmSync(path);
  if (status !== 0 || size !== bytes)
    throw new Error(`status ${status} and ${size} bytes, not 0 and ${bytes}`);
}

/** How far our memory rose above where it was, looked at every two milliseconds. */
async function measuringMemory(run: () => Promise<number>): Promise<{ ms: number; grownMb: number }> {
  const before = process.memoryUsage.rss();
  let most = before;
  const look = () => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const watcher = setInterval(look, 2);
  const ms = await run();
  clearInterval(watcher);
  look();
  return { ms, grownMb: (most - before) / 1e6 };
}
