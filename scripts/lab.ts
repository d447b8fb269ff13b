/**
 * `npm run lab [-- <folder>]`: learns from recordings what is used again (src/context/value/learned.ts), replays them and
 * writes what was found to docs/evidence.md; `-- <folder> --learn` only learns. Exit code 1 when a file could not be
 * replayed or a request would be refused.
 */

import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { evidenceOf } from "../src/lab/evidence/evidence.ts";
import { importRecordings } from "../src/lab/recordings/import.ts";
import { recordingsIn } from "../src/lab/replay/jobs.ts";
import { isApart, learnFrom, moduleOf } from "../src/lab/value/learn.ts";

const root = join(import.meta.dirname, "..");
const words = process.argv.slice(2).filter((word) => word !== "--learn");
const folder = words[0] ?? join(root, "..", "shared", "trajectories");
const table = join(root, "src", "context", "value", "learned.ts");
const page = join(root, "docs", "evidence.md");

if (existsSync(folder)) {
  learn(recordingsIn([folder]));
  // The replays that follow run in threads, which read the table anew.
  if (!process.argv.includes("--learn")) await write(recordingsIn([folder]));
} else {
  process.stderr.write("lab: there are no recordings: npm run lab -- <folder of recordings>\n");
  process.exitCode = 2;
}

function learn(files: readonly string[]): void {
  const { recordings } = importRecordings(files.filter((file) => !isApart(file)));
  writeFileSync(table, moduleOf(learnFrom(recordings), recordings));
  process.stderr.write(`${table}: learned from ${recordings.length} of ${files.length} recordings\n`);
}

async function write(files: readonly string[]): Promise<void> {
  const { page: text, problems } = await evidenceOf({
    files,
    jobs: availableParallelism(),
    onProgress: (done, all) => process.stderr.write(`\r${done}/${all}`),
  });
  writeFileSync(page, text);
  process.stderr.write(`\r${page}: ${text.split("\n").length} lines\n`);
  for (const problem of problems) process.stderr.write(`lab: ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
