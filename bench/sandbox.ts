/** The sandbox: a first command, a round trip, and what its own processes hold. Beside the same shell without one. */

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "../src/core/sandbox.ts";
import { realOutside } from "../src/network/dial.ts";
import { sandboxFiles } from "../src/network/files.ts";
import { createNetwork } from "../src/network/network.ts";
import { usualBudget } from "../src/permissions/sandbox/budget.ts";
import { followOutput } from "../src/tools/bash/output-file.ts";
import { procTable } from "../src/tools/bash/shell/process-table-proc.ts";
import { createShell, type Shell } from "../src/tools/bash/shell/shell.ts";
import { engine, insideOf } from "../test/sandbox/support.ts";
import { figure, type Row, ratio } from "./figures.ts";
import { startLoopback } from "./loopback.ts";
import { agent, inHome, inTurn, runNode } from "./programs.ts";

type Kind = "bare" | "walls" | "names";
type Place = { shell: Shell; run(command: string): Promise<void>; close(): Promise<void> };

/** From nothing to the end of `:`, with a sandbox, with one that serves names, and without. */
export async function firstCommand(): Promise<Row[]> {
  if (!engine) return [];
  const first = (kind: Kind) => async () => {
    const began = performance.now();
    const place = open(kind);
    await place.run(":");
    const ms = performance.now() - began;
    await place.close();
    return ms;
  };
  const { bare, walls, names } = await inTurn(25, {
    bare: first("bare"),
    walls: first("walls"),
    names: first("names"),
  });
  const row = (name: string, values: readonly number[], most: number): Row => {
    const [measured, baseline] = [figure(values), figure(bare)];
    const aim = { text: `≤ ${most} ms more`, met: measured.median - baseline.median <= most };
    return { name, unit: "ms", measured, baseline, against: "without sandbox", aim };
  };
  return [row("first command, sandbox", walls, 10), row("first command, with names", names, 75)];
}

/** Milliseconds that the server takes for a reply: a model takes longer. */
const thinkingMs = 300;

/**
 * From the reply with the first command to the request with its result, where the reply took as long as a model's do at
 * least: the sandbox starts meanwhile. The whole program, with the sandbox and names, and without.
 */
export async function firstCommandSeen(): Promise<Row[]> {
  if (!engine) return [];
  const { walls, bare } = await inTurn(15, { bare: () => firstWait("off"), walls: () => firstWait("on") });
  const [measured, baseline] = [figure(walls), figure(bare)];
  return [
    {
      ...{ name: "first command, as seen", unit: "ms", measured, baseline, against: "without sandbox" },
      aim: { text: "≤ 10 ms more", met: measured.median - baseline.median <= 10 },
    },
  ];
}

async function firstWait(choice: "on" | "off"): Promise<number> {
  const call = { name: "bash", input: { command: ":" } };
  const server = await startLoopback((index) => (index === 0 ? call : undefined), undefined, thinkingMs);
  const flags = ["--model", "anthropic/claude-sonnet-5-5", "--permission-mode", "auto", "--sandbox", choice];
  await inHome((home) => runNode([...agent, "-p", "hi", ...flags], home), server.url);
  await server.close();
  return (server.arrived[1] ?? Number.NaN) - (server.ended[0] ?? Number.NaN);
}

/** `:` there and back in a shell that runs, inside and outside. */
export async function insideRoundTrip(): Promise<Row[]> {
  if (!engine) return [];
  const [outside, inside] = [open("bare"), open("walls")];
  const timed = (place: Place) => async () => {
    const began = performance.now();
    await place.run(":");
    return performance.now() - began;
  };
  const { ours, bare } = await inTurn(200, { bare: timed(outside), ours: timed(inside) });
  const memory = memoryOf(inside.shell);
  await Promise.all([inside.close(), outside.close()]);
  const times = { measured: figure(ours), baseline: figure(bare) };
  const own = figure([memory.own]);
  return [
    {
      ...{ name: "round trip, sandbox", unit: "ms", ...times, against: "without sandbox" },
      aim: { text: "≤ 1.05 ×", met: ratio(times) <= 1.05 },
    },
    {
      ...{ name: "  keeper and bwrap", unit: "MB", measured: own },
      ...{ baseline: figure([memory.shell]), against: "the shell itself" },
      aim: { text: "≤ 6 MB", met: own.median <= 6 },
    },
  ];
}

let number = 0;

function open(kind: Kind): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-bench-")));
  const [work, state] = [join(root, "work"), join(root, "session")];
  for (const folder of [work, state]) mkdirSync(folder);
  const network = kind === "names" ? namesOf() : undefined;
  const sandbox: Sandbox | undefined =
    kind === "bare" ? undefined : insideOf({ work, state }, { home: homedir(), network });
  const shell = createShell({
    ...{ cwd: work, env: process.env, sessionId: `bench-${++number}`, stateFolder: state },
    sandbox: async () => sandbox,
  });
  const outputPath = join(state, "output");
  return {
    shell,
    async run(command) {
      writeFileSync(outputPath, "");
      const output = followOutput(outputPath);
      const { signal } = new AbortController();
      const io = { output, outputPath, timeoutMs: 60_000, signal, onProgress() {} };
      const { status } = await shell.run(command, io);
      output.close();
      if (status !== 0) throw new Error(`${command} ended with ${status}`);
    },
    async close() {
      await shell.close();
      network?.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function namesOf() {
  const network = createNetwork({
    ...{ budget: usualBudget, now: Date.now, rules: () => [], exposed: () => false, ask: undefined },
    ...{ commandOf: () => undefined, outside: realOutside(process.env) },
  });
  return { files: sandboxFiles("sandbox"), serve: network.serve, close: network.close };
}

/** Megabytes that belong to a process alone, or its share of what several hold, of the shell and of all around it. */
function memoryOf(shell: Shell): { own: number; shell: number } {
  const table = procTable();
  const all = table.all();
  const shells = all.filter(({ pid }) => table.commandLine(pid).includes("--rcfile") && isOurs(pid));
  const inside = shells.find(({ pid }) => table.innerPid(pid) !== pid);
  if (!inside || !shell.terminal()) throw new Error("no shell runs in a sandbox");
  let own = 0;
  for (let at = table.find(inside.parent); at && at.pid !== process.pid; at = table.find(at.parent))
    own += megabytes(at.pid);
  return { own, shell: megabytes(inside.pid) };

  function isOurs(pid: number): boolean {
    for (let at = table.find(pid); at && at.pid > 1; at = table.find(at.parent))
      if (at.pid === process.pid) return true;
    return false;
  }
}

function megabytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return (Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) * 1024) / 1e6;
}
