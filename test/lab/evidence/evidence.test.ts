import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { evidencePage } from "../../../src/lab/evidence/evidence.ts";
import { recordingsIn } from "../../../src/lab/replay/jobs.ts";
import { claudeCode, miniSweAgent, pi } from "../recordings/recordings.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-evidence-"));
  writeFileSync(join(folder, "a.jsonl"), claudeCode());
  writeFileSync(join(folder, "b.jsonl"), pi());
  writeFileSync(join(folder, "c.traj.json"), miniSweAgent());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the page of evidence is the same bytes each time it is written, on however many threads", async () => {
  const files = recordingsIn([folder]);
  const [first, again, threaded] = [
    await evidencePage({ files, jobs: 1 }),
    await evidencePage({ files, jobs: 1 }),
    await evidencePage({ files, jobs: 3 }),
  ];
  expect(again).toBe(first);
  expect(threaded).toBe(first);
  // It says something of each recording, and names no folder of this machine.
  expect(first.match(/^\| (a|b|c) \|/gm)).toHaveLength(3);
  expect(first).not.toContain(folder);
});
