/**
 * `npm run lab [-- <folder>]`: replays recordings and writes what was found to docs/evidence.md. Exit code 1 when a
 * file could not be replayed or a request would be refused.
 */

import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { evidenceOf } from "../src/lab/evidence/evidence.ts";
import { recordingsIn } from "../src/lab/replay/jobs.ts";

const root = join(import.meta.dirname, "..");
const folder = process.argv[2] ?? join(root, "..", "shared", "trajectories");
const page = join(root, "docs", "evidence.md");

if (existsSync(folder)) await write(recordingsIn([folder]));
else {
  process.stderr.write("lab: there are no recordings: npm run lab -- <folder of recordings>\n");
  process.exitCode = 2;
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
