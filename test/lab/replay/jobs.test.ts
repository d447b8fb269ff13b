import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { replayHtml } from "../../../src/lab/replay/html.ts";
import { recordingsIn, replayFiles } from "../../../src/lab/replay/jobs.ts";
import { csvText, figuresOf, jsonText, tableText } from "../../../src/lab/replay/table.ts";
import { tuneFor } from "../../../src/lab/replay/tune.ts";
import { claudeCode, codex, miniSweAgent, pi, sweAgent } from "../recordings/recordings.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-replay-"));
  mkdirSync(join(folder, "deeper"));
  writeFileSync(join(folder, "a.jsonl"), claudeCode());
  writeFileSync(join(folder, "b.jsonl"), pi());
  writeFileSync(join(folder, "c.jsonl"), codex());
  writeFileSync(join(folder, "deeper", "=d.traj"), sweAgent());
  writeFileSync(join(folder, "deeper", "e.traj.json"), miniSweAgent());
  writeFileSync(join(folder, "notes.md"), "no recording");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = (jobs: number) => ({
  files: recordingsIn([folder]),
  contexts: ["raw", "masking", "economist+ingest"],
  prices: ["claude-sonnet-5-5", ".1/1.25"],
  gaps: "recorded" as const,
  jobs,
});

test("a folder is searched for recordings, a file is taken whatever it is called", () => {
  const names = (paths: string[]) => recordingsIn(paths).map((path) => path.slice(folder.length + 1));
  expect(names([folder])).toEqual(["a.jsonl", "b.jsonl", "c.jsonl", "deeper/=d.traj", "deeper/e.traj.json"]);
  expect(names([join(folder, "notes.md")])).toEqual(["notes.md"]);
});

test("threads give the same rows in the same order as one thread, and tell how far they are", async () => {
  const told: number[] = [];
  const one = await replayFiles(options(1));
  const two = await replayFiles({ ...options(2), onProgress: (done, all) => told.push(done / all) });
  expect(two).toEqual(one);
  expect(one.rows).toHaveLength(5 * 3 * 2);
  expect(one.rows.map(({ context }) => context).slice(0, 3)).toEqual(["raw", "masking", "economist+ingest"]);
  expect(told.at(-1)).toBe(1);
});

test("a file that is no good is told once, and the others are replayed", async () => {
  writeFileSync(join(folder, "bad.jsonl"), "nothing\n");
  for (const jobs of [1, 2]) {
    const { rows, problems, warnings } = await replayFiles(options(jobs));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/bad\.jsonl is damaged, or no recording/);
    expect(new Set(rows.map(({ file }) => file)).size).toBe(5);
    expect(warnings.some((warning) => warning.endsWith("1 × hologram"))).toBe(true);
  }
});

test("sums, ratios and the bound are those of the rows", async () => {
  const { rows } = await replayFiles(options(1));
  const figures = figuresOf(rows);
  const all = figures.filter(({ recording, prices }) => recording === "all" && prices === ".1/1.25");
  expect(all.map(({ context }) => context)).toEqual([
    "raw",
    "masking",
    "masking, in hindsight",
    "economist+ingest",
  ]);
  const raw = rows.filter(({ context, prices }) => context === "raw" && prices === ".1/1.25");
  expect(all[0]?.cost).toBeCloseTo(
    raw.reduce((sum, { cost }) => sum + cost, 0),
    12,
  );
  expect(all[0]?.ratio).toBe(1);
  expect(all[2]?.cost).toBeLessThanOrEqual((all[1]?.cost ?? 0) + 1e-12);
});

test("the table, the JSON and the CSV say the same, and a spreadsheet runs no name as a formula", async () => {
  const { rows } = await replayFiles(options(1));
  const table = tableText(rows);
  expect(table).toMatch(/claude-sonnet-5-5 \(prefix-bound history\)/);
  expect(table).toMatch(/^all +raw +\d+/m);
  const { figures, replays } = JSON.parse(jsonText(rows)) as { figures: unknown[]; replays: unknown[] };
  expect(figures).toHaveLength(figuresOf(rows).length);
  expect(replays).toHaveLength(rows.length);
  const [head = "", ...lines] = csvText(rows).split("\n");
  expect(lines).toHaveLength(figures.length);
  for (const line of lines)
    expect(line.replace(/"[^"]*"/g, "").split(",")).toHaveLength(head.split(",").length);
  expect(lines.some((line) => line.startsWith("'=d,"))).toBe(true);
});

test("the page draws every recording and holds nothing that could run", async () => {
  writeFileSync(join(folder, "<img src=x>.jsonl"), pi());
  const page = replayHtml((await replayFiles(options(1))).rows, []);
  expect(page.match(/<svg /g)).toHaveLength(6 * 2);
  expect(page).toContain("default-src 'none'");
  expect(page).not.toContain("<img");
  expect(page).not.toContain("<script");
});

test("tuning names the cheapest of what it tried, as settings that can be pasted", async () => {
  const { contexts: _, prices: __, ...rest } = options(1);
  const { text, problems } = await tuneFor({ ...rest, prices: ".1/1.25" });
  expect(problems).toEqual([]);
  expect(text).toMatch(/maskKeep 5 .*\n.*maskKeep 10 .*\n.*maskKeep 18/);
  const snippet = JSON.parse(/^\{[\s\S]*?^\}$/m.exec(text)?.[0] ?? "") as { context: string; engine: object };
  expect(snippet.engine).toHaveProperty("resultTokens");
  expect(["economist", "masking"]).toContain(snippet.context);
  expect(await tuneFor({ ...rest, files: [join(folder, "notes.md")], prices: ".1/1.25" })).toMatchObject({
    text: "",
  });
});
