/** The interactive screen: until it is ready, from key to echo, bytes for a session, and what it takes when idle. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { type Drive, driveProgram } from "../test/support/pty-drive.ts";
import { makeWorkspace, type Workspace } from "../test/support/sawtooth.ts";
import { figure, type Row, ratio } from "./figures.ts";
import { startStream } from "./loopback.ts";
import { agent } from "./programs.ts";
import { arrives, echoTimes, memoryOf, p95, processorShare } from "./terminal.ts";

const root = join(import.meta.dirname, "..");
const size = { columns: 120, rows: 40 };
const noServer = "http://127.0.0.1:9";

/** The bare Ink app, bundled and started as the agent is; words that start it, after `node`. */
async function bareInk(folder: string): Promise<string[]> {
  await build({
    entryPoints: [join(root, "bench/bare-ink.ts")],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.12",
    external: ["react-devtools-core"],
    define: { "process.env.NODE_ENV": '"production"' },
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module";const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  const main = join(folder, "start.mjs");
  const cache = JSON.stringify(join(folder, "cache"));
  writeFileSync(
    main,
    `import m from "node:module"; m.enableCompileCache?.(${cache}); await import("./bare-ink.mjs");`,
  );
  return [main];
}

/** Milliseconds until the prompt is there. */
async function readyTime(words: string[], workspace: Workspace): Promise<number> {
  const startedAt = performance.now();
  const terminal = driveProgram(process.execPath, words, workspace, size);
  await arrives(terminal, "›");
  const ms = performance.now() - startedAt;
  terminal.kill();
  await terminal.ended;
  return ms;
}

/** From the start of the process to the prompt, beside a bare bundled Ink app. */
export async function tuiReady(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-bench-tui-"));
  const workspace = makeWorkspace(noServer);
  const bare = await bareInk(folder);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round <= 15; round++) {
    const pair = [await readyTime(bare, workspace), await readyTime(agent, workspace)] as const;
    if (round === 0) continue;
    theirs.push(pair[0]);
    ours.push(pair[1]);
  }
  workspace.remove();
  rmSync(folder, { recursive: true });
  const row = { measured: figure(ours), baseline: figure(theirs) };
  const aim = { text: "≤ 350 ms, ≤ 1.8 ×", met: row.measured.median <= 350 && ratio(row) <= 1.8 };
  return [{ name: "screen ready", unit: "ms", ...row, against: "bare Ink app", aim }];
}

/** From key to echo in an empty session, and again after a session of some length. */
export async function tuiEcho(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-bench-tui-"));
  const workspace = makeWorkspace(noServer);
  const rounds = 5;
  const samples: Record<"bare" | "ours" | "later" | "below" | "while", number[][]> = {
    bare: [],
    ours: [],
    later: [],
    below: [],
    while: [],
  };
  const bare = await bareInk(folder);
  for (let round = 0; round < rounds; round++) {
    samples.bare.push(await fresh(bare, workspace, "\x1b[?2026l"));
    samples.ours.push(await fresh(agent, workspace, "\x1b[?2026l"));
  }
  samples.later.push(...(await afterSession(rounds)));
  samples.below.push(...(await belowHistory(rounds)));
  samples.while.push(...(await whileStreaming()));
  workspace.remove();
  rmSync(folder, { recursive: true });
  const median = (sets: number[][]) => figure(sets.map((times) => figure(times).median));
  const tail = (sets: number[][]) => figure(sets.map(p95));
  const row = (name: string, ours: number[][], of: typeof median, limit: number): Row => {
    const measured = of(ours);
    const aim = { text: `≤ ${limit} ms`, met: measured.median <= limit };
    return { name, unit: "ms", measured, baseline: of(samples.bare), against: "bare Ink app", aim };
  };
  return [
    row("key to echo", samples.ours, median, 2.5),
    row("key to echo, p95", samples.ours, tail, 8),
    row("key to echo after 200 steps", samples.later, median, 2.5),
    row("the same, p95", samples.later, tail, 8),
    row("key to echo below 5,000 rows, p95", samples.below, tail, 50),
    row("key to echo while it streams, p95", samples.while, tail, 50),
  ];
}

async function fresh(words: string[], workspace: Workspace, mark: string): Promise<number[]> {
  const terminal = driveProgram(process.execPath, words, workspace, size);
  await arrives(terminal, "›");
  await sleep(150);
  const times = await echoTimes(terminal, 120, mark);
  terminal.kill();
  await terminal.ended;
  return times;
}

/** A script of so many steps, each a command that prints some lines. */
function longScript(steps: number): string {
  const turns = Array.from({ length: steps }, (_, index) => ({
    text: `Step ${index + 1}: I look at the next part, and say in a sentence or two what I found there.`,
    calls: [{ bash: { command: `seq ${index} ${index + 25}` } }],
  }));
  return JSON.stringify({ turns: [...turns, { text: "All of it is done." }] });
}

async function runScript(workspace: Workspace, script: string, done: string): Promise<Drive> {
  const terminal = driveProgram(
    process.execPath,
    [...agent, "--model", `scripted/${script}`, "--permission-mode", "auto"],
    workspace,
    size,
  );
  await arrives(terminal, "›");
  terminal.send("go\r");
  await terminal.until(done, 120_000);
  await terminal.quiet(300);
  return terminal;
}

/** Below 5,000 rows of answers. */
async function belowHistory(rounds: number): Promise<number[][]> {
  const workspace = makeWorkspace(noServer);
  const text = Array.from({ length: 5000 }, (_, index) => `Row ${index + 1} of the answer, with some words.`);
  writeFileSync(join(workspace.cwd, "rows.yaml"), JSON.stringify({ turns: [{ text: text.join("\n") }] }));
  const terminal = await runScript(workspace, "rows.yaml", "Row 5000");
  const sets = await echoSets(terminal, rounds);
  workspace.remove();
  return sets;
}

const tokensPerSecond = 200;

/** While an answer comes at 200 tokens a second, in lines of some words. */
async function whileStreaming(): Promise<number[][]> {
  const words = (index: number) => (index % 12 === 11 ? "word.\n" : "word ");
  const stream = await startStream(words, 1000 / tokensPerSecond);
  const workspace = makeWorkspace(stream.url);
  const terminal = driveProgram(process.execPath, agent, workspace, size);
  await arrives(terminal, "›");
  terminal.send("go\r");
  await arrives(terminal, "word word");
  const sets: number[][] = [];
  for (let round = 0; round < 3; round++) sets.push(await typedTimes(terminal, 60, round));
  terminal.kill();
  await stream.close();
  workspace.remove();
  return sets;
}

/** Milliseconds until what is typed is on screen, where frames come for other reasons too: a mark of its own each. */
async function typedTimes(terminal: Drive, keys: number, round: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < keys; index++) {
    const key = String.fromCodePoint(0x3b1 + ((keys * round + index) % 24));
    const from = terminal.raw().length;
    const sentAt = performance.now();
    terminal.send(key);
    await arrives(terminal, key, from);
    times.push(performance.now() - sentAt);
    if (index % 20 === 19) terminal.send("\x15");
    await sleep(40);
  }
  return times;
}

async function echoSets(terminal: Drive, rounds: number): Promise<number[][]> {
  const sets: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    sets.push(await echoTimes(terminal, 120, "\x1b[?2026l"));
    terminal.send("\x03");
    await sleep(1200);
  }
  terminal.kill();
  return sets;
}

async function afterSession(rounds: number): Promise<number[][]> {
  const workspace = makeWorkspace(noServer);
  writeFileSync(join(workspace.cwd, "long.yaml"), longScript(200));
  const terminal = await runScript(workspace, "long.yaml", "All of it is done.");
  const sets = await echoSets(terminal, rounds);
  workspace.remove();
  return sets;
}

/** Bytes written to the terminal, beside the text that is left on it; and memory and processor time at rest. */
export async function tuiBytes(): Promise<Row[]> {
  const demo = makeWorkspace(noServer);
  cpSync(join(root, "examples/shop"), demo.cwd, { recursive: true });
  const script = join(root, "examples/shop.script.yaml");
  for (const words of ["init -q", "add -A", "-c user.name=b -c user.email=b@localhost commit -qm shop"])
    execFileSync("git", words.split(" "), { cwd: demo.cwd });
  const short = await runScript(demo, script, "Each has a test of its own");
  const rows = [bytesRow("written for the demo", short, 60)];
  short.kill();
  demo.remove();
  const workspace = makeWorkspace(noServer);
  writeFileSync(join(workspace.cwd, "long.yaml"), longScript(200));
  const long = await runScript(workspace, "long.yaml", "All of it is done.");
  rows.push(bytesRow("written for 200 steps", long, 500), ...(await restRows(long)));
  long.kill();
  workspace.remove();
  return rows;
}

function bytesRow(name: string, terminal: Drive, limit: number): Row {
  const measured = figure([Buffer.byteLength(terminal.raw()) / 1000]);
  const text = terminal.whole().join("\n");
  const baseline = figure([Buffer.byteLength(text.trimEnd()) / 1000]);
  const aim = { text: `≤ ${limit} kB`, met: measured.median <= limit };
  return { name, unit: "kB", measured, baseline, against: "the text itself", aim };
}

/** Linux only: elsewhere there is nothing to read. */
async function restRows(terminal: Drive): Promise<Row[]> {
  const before = memoryOf(terminal.pid);
  const percent = figure([Math.max(1e-3, await processorShare(terminal.pid, 20))]);
  const memory = figure([memoryOf(terminal.pid)]);
  return [
    {
      name: "processor at rest",
      unit: "%",
      measured: percent,
      baseline: figure([0.3]),
      against: "aim",
      aim: { text: "≤ 0.3 %", met: percent.median <= 0.3 },
    },
    {
      name: "memory after 200 steps",
      unit: "MB",
      measured: memory,
      baseline: figure([before]),
      against: "20 s before",
      aim: { text: "≤ 180 MB, flat", met: memory.median <= 180 && memory.median <= before + 10 },
    },
  ];
}
