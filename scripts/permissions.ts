/** `npm run permissions [-- <folder>]`: how often each mode would ask over recordings of agents, per 100 calls. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { importRecording } from "../src/lab/recordings/import.ts";
import { recordingsIn } from "../src/lab/replay/jobs.ts";
import { countDecisions, judgeCalls } from "../src/lab/replay/permissions.ts";
import type { PermissionMode } from "../src/permissions/decide.ts";
import { loadShellParser } from "../src/tools/bash/grammar.ts";

const root = join(import.meta.dirname, "..");
const folder = process.argv[2] ?? join(root, "..", "shared", "trajectories");
const modes: readonly PermissionMode[] = ["ask", "accept-edits", "plan", "auto"];

if (existsSync(folder)) await print(recordingsIn([folder]));
else {
  process.stderr.write(
    "permissions: there are no recordings: npm run permissions -- <folder of recordings>\n",
  );
  process.exitCode = 2;
}

async function print(files: readonly string[]): Promise<void> {
  const parse = await loadShellParser(join(root, "dist"));
  const recordings = files.map((file) => importRecording(file).events);
  const rows = modes.map((mode) => {
    const rules = { mode, allow: [], deny: [], home: "/home/user", protectedPaths: [], parse };
    const counts = countDecisions(recordings.flatMap((events) => judgeCalls(events, rules)));
    const share = (number: number): string => ((100 * number) / counts.calls).toFixed(1);
    return `| ${mode} | ${counts.allowed} | ${counts.asked} | ${share(counts.asked)} | ${counts.denied} | ${share(counts.denied)} |`;
  });
  const head =
    "| mode | free | asked | per 100 calls | denied | per 100 calls |\n| --- | --: | --: | --: | --: | --: |";
  process.stdout.write(`${[head, ...rows].join("\n")}\n`);
}
