/** `npm run lab [-- <folder>]`: replays recordings and writes what was found to docs/evidence.md. */

import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { evidencePage } from "../src/lab/evidence/evidence.ts";
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
  const text = await evidencePage({
    files,
    jobs: availableParallelism(),
    onProgress: (done, all) => process.stderr.write(`\r${done}/${all}`),
  });
  writeFileSync(page, text);
  process.stderr.write(`\r${page}: ${text.split("\n").length} lines\n`);
}
