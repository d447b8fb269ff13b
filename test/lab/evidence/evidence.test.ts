import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { evidenceOf } from "../../../src/lab/evidence/evidence.ts";
import { recordingsIn } from "../../../src/lab/replay/jobs.ts";
import { memoryLog, reply, started, text, user } from "../../support/logs.ts";
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
    await evidenceOf({ files, jobs: 1 }),
    await evidenceOf({ files, jobs: 1 }),
    await evidenceOf({ files, jobs: 3 }),
  ];
  expect(first.problems).toEqual([]);
  expect(again).toEqual(first);
  expect(threaded).toEqual(first);
  // It says something of each recording, and names no folder of this machine.
  expect(first.page.match(/^\| (a|b|c) \|/gm)).toHaveLength(3);
  expect(first.page).not.toContain(folder);
});

test("a request that would be refused and a file that holds no recording are problems, by which the lab fails", async () => {
  const half = memoryLog([started(), user("half a sign: \ud83d"), reply(text("b"))]);
  writeFileSync(
    join(folder, "half.jsonl"),
    half
      .events()
      .map((event) => JSON.stringify(event))
      .join("\n"),
  );
  writeFileSync(join(folder, "none.jsonl"), "{}\n");
  const files = ["half.jsonl", "none.jsonl"].map((name) => join(folder, name));
  const { problems } = await evidenceOf({ files, jobs: 1 });
  expect(problems).toContainEqual(expect.stringMatching(/none.jsonl is of no known format/));
  expect(problems).toContainEqual(
    expect.stringMatching(/^half under economist at anthropic\/claude-sonnet-5-5: 1 invalid request: rule 2/),
  );
});
