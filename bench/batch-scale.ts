/**
 * `npm run scale`: costs of a batch at 10, 100 and 1,000 tasks, as a table for docs/batch.md. Each part of 20 tasks runs
 * with a mirror that all share; a tiny program stands for the agent, so that what is counted is the batch's own.
 */

import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { batchProgram, resultsOf } from "./batch.ts";
import { figure } from "./figures.ts";
import { agentFolder, type Home, inHome, runNode } from "./programs.ts";

const sizes = [10, 100, 1000];
const tasksOfPart = 20;
const summaryRuns = 5;

type Cost = {
  tasks: number;
  files: number;
  kilobytes: number;
  peakMb: number;
  msPerTask: number;
  summaryMs: number;
  manySummaryMs: number;
};

const rows: Cost[] = [];
for (const tasks of sizes) rows.push(await inHome((home) => costsOf(tasks, home)));
const cells = (row: Cost): (string | number)[] => [
  row.tasks.toLocaleString("en-US"),
  (row.files / row.tasks).toFixed(1),
  (row.kilobytes / row.tasks).toFixed(1),
  row.peakMb.toFixed(0),
  row.msPerTask.toFixed(0),
  row.summaryMs.toFixed(0),
  row.manySummaryMs.toFixed(0),
];
const head =
  "tasks|files and folders a task|kB a task|peak of the parent, MB|ms a task|sum of one folder, ms|sum of parts of 20, ms".split(
    "|",
  );
const line = (words: readonly (string | number)[]) => `| ${words.join(" | ")} |\n`;
process.stdout.write(
  `${line(head)}${line(head.map(() => "--:"))}${rows.map((row) => line(cells(row))).join("")}`,
);
process.stdout.write(`\n${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)}\n`);

async function costsOf(tasks: number, home: Home): Promise<Cost> {
  const main = batchProgram(home);
  const origin = join(home.folder, "origin");
  const commit = originAt(origin, home);
  const lines = Array.from({ length: tasks }, (_, index) => ({
    ...{ id: `t${index}`, prompt: `Do ${index}.`, repo: `file://${origin}`, ref: commit },
  }));
  const file = join(home.folder, "tasks.jsonl");
  writeFileSync(file, lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const out = join(home.folder, "out");
  const words = [main, "batch", file, "--out", out, "--jobs", "2", "--mirrors", join(home.folder, "mirrors")];
  const ran = await runNode(words, home, true);
  const { files, bytes } = contentsOf(join(out, "tasks"));
  return {
    tasks,
    files,
    kilobytes: (bytes + lstatSync(join(out, "results.jsonl")).size) / 1000,
    peakMb: ran.peakMb,
    msPerTask: ran.ms / tasks,
    summaryMs: await summary([resultsOf(tasks, home, "sum")], home),
    manySummaryMs: await summary(
      Array.from({ length: Math.ceil(tasks / tasksOfPart) }, (_, part) =>
        resultsOf(Math.min(tasks, tasksOfPart), home, `part-${part}`, part * tasksOfPart),
      ),
      home,
    ),
  };
}

async function summary(folders: readonly string[], home: Home): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < summaryRuns; run++)
    times.push(
      (await runNode([join(agentFolder, "dist/main.js"), "batch", "--summary", ...folders], home)).ms,
    );
  return figure(times).median;
}

/** Makes a repository of 200 files. Returns its commit. */
function originAt(folder: string, { env }: Home): string {
  mkdirSync(folder);
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: folder, env, encoding: "utf8" }).trim();
  for (let index = 0; index < 200; index++)
    writeFileSync(join(folder, `file-${index}.txt`), `${index}\n`.repeat(100));
  git("init", "--quiet");
  git("add", "--all");
  git("-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "--quiet", "--message", "start");
  return git("rev-parse", "HEAD");
}

function contentsOf(folder: string): { files: number; bytes: number } {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) =>
    lstatSync(join(folder, path)),
  );
  return { files: paths.length, bytes: paths.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0) };
}
