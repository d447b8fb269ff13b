import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claudeCode, pi } from "../lab/recordings/recordings.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../support/sawtooth.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
  writeFileSync(join(workspace.cwd, "one.jsonl"), claudeCode());
  writeFileSync(join(workspace.cwd, "two.jsonl"), pi());
});
afterEach(() => workspace.remove());

const replay = (...words: string[]) => sawtooth(workspace, ["replay", ...words]);

describe("sawtooth replay", () => {
  test("prints a table on stdout, what it left out on stderr, and draws a page", async () => {
    const { code, stdout, stderr } = await replay(
      "one.jsonl",
      "two.jsonl",
      "--html",
      "page.html",
      "--jobs",
      "2",
    );
    expect(stdout).toMatch(
      /^anthropic\/claude-sonnet-5-5 \(prefix-bound history\)\nrecording +context +steps/,
    );
    for (const context of ["raw", "masking", "masking, in hindsight", "hybrid", "focus-auto", "economist"])
      expect(stdout).toContain(` ${context} `);
    expect(stderr).toContain("one.jsonl: not understood and left out: 1 × hologram");
    expect(readFileSync(join(workspace.cwd, "page.html"), "utf8")).toMatch(/^<!doctype html>/);
    expect(code).toBe(0);
  });

  test("gives a program JSON or CSV and nothing else on stdout", async () => {
    const words = ["one.jsonl", "--context", "masking", "--prices", ".1/1.25,claude-sonnet-4-6"];
    const json = await replay(...words, "--format", "json");
    const { figures } = JSON.parse(json.stdout) as { figures: { context: string; prices: string }[] };
    expect(new Set(figures.map(({ context }) => context))).toEqual(
      new Set(["raw", "masking", "masking, in hindsight"]),
    );
    const csv = await replay(...words, "--format", "csv", "--gaps", "ignore");
    expect(csv.stdout.trim().split("\n")).toHaveLength(1 + figures.length);
  });

  test("with --permissions tells what modes and rules would ask, the same each time, and goes on after a bad file", async () => {
    const words = ["--permissions", "one.jsonl", "two.jsonl", "--permission-mode", "accept-edits"];
    const { code, stdout } = await replay(...words);
    expect(stdout).toMatch(
      /^2 recordings, \d+ commands? among \d+ calls\n\nmode +sandbox +calls +free +asked/,
    );
    expect(code).toBe(0);
    writeFileSync(join(workspace.cwd, "bad.jsonl"), "nothing\n");
    const json = await replay(...words, "bad.jsonl", "--format", "json", "--deny", "bash");
    expect(json.stderr).toContain("bad.jsonl is damaged");
    expect(json.code).toBe(1);
    const { policies } = JSON.parse(json.stdout) as { policies: { mode: string; refused: number }[] };
    expect(policies.map(({ mode }) => mode)).toEqual(["accept-edits", "accept-edits"]);
    expect(policies[0]?.refused).toBeGreaterThan(0);
  });

  test("with --reuse tells how long each kind of observation stays in use, as table, JSON, CSV and picture", async () => {
    const { code, stdout } = await replay("--reuse", "one.jsonl", "two.jsonl", "--html", "reuse.html");
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n2 recordings\n {2}read +\d/);
    expect(stdout).toMatch(/^claude-code$[\s\S]*^pi$[\s\S]*^one$[\s\S]*^two$/m);
    const page = readFileSync(join(workspace.cwd, "reuse.html"), "utf8");
    expect(page).toContain("How long observations stay in use, by kind</title>");
    expect(page).not.toMatch(/<script|<h1>Replay/);
    const json = await replay("--reuse", "one.jsonl", "--format", "json");
    const { reuse } = JSON.parse(json.stdout) as { reuse: { by: string; kind: string }[] };
    expect(new Set(reuse.map(({ by }) => by))).toEqual(new Set(["all", "agent", "recording"]));
    const csv = await replay("--reuse", "one.jsonl", "--format", "csv");
    expect(csv.stdout).toMatch(/^by,group,kind,observations,tokens,used_above_age,share,token_share\nall,/);
  });

  test("takes one of --reuse, --tune and --permissions, and tells of a file that cannot be measured", async () => {
    const both = await replay("one.jsonl", "--reuse", "--tune");
    expect(both.code).toBe(2);
    expect(both.stderr).toContain("--tune and --reuse: take one at a time");
    writeFileSync(join(workspace.cwd, "bad.jsonl"), "nothing\n");
    const bad = await replay("--reuse", "bad.jsonl", "one.jsonl");
    expect(bad.stderr).toContain("bad.jsonl is damaged");
    expect(bad.code).toBe(1);
    expect((await replay("--reuse", "bad.jsonl")).code).toBe(2);
  });

  test("goes on after a file that is no good and says so with its exit code", async () => {
    writeFileSync(join(workspace.cwd, "bad.jsonl"), "nothing\n");
    const { code, stdout, stderr } = await replay(".", "--context", "raw");
    expect(stdout).toMatch(/^one +raw/m);
    expect(stderr).toContain("bad.jsonl is damaged, or no recording: not one line of it is JSON");
    expect(code).toBe(1);
    const alone = await replay("bad.jsonl");
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain("none of the files could be replayed");
  });

  test("says in one sentence what is wrong with a broken, an empty, an unknown and a huge file", async () => {
    writeFileSync(join(workspace.cwd, "broken.traj"), '{"trajectory": [{"action": "l');
    writeFileSync(join(workspace.cwd, "empty.jsonl"), "");
    writeFileSync(join(workspace.cwd, "unknown.jsonl"), '{"a":1}\n{"b":2}\n');
    writeFileSync(join(workspace.cwd, "huge.jsonl"), claudeCode());
    const line = `${JSON.stringify({ type: "user", message: { role: "user", content: "x".repeat(1e6) } })}\n`;
    for (let megabyte = 0; megabyte < 42; megabyte++) appendFileSync(join(workspace.cwd, "huge.jsonl"), line);
    const { code, stderr } = await replay(".", "--context", "raw");
    const told = stderr.split("\n").filter((one) => /broken|empty|unknown|huge/.test(one));
    expect(told.sort()).toEqual([
      "sawtooth: broken.traj is damaged, or no recording: not one line of it is JSON",
      "sawtooth: empty.jsonl is empty: there is nothing to replay",
      "sawtooth: huge.jsonl is too large to replay: 40 MB, and 32 MB is the limit",
      expect.stringMatching(/^sawtooth: unknown.jsonl is of no known format: sawtooth, Claude Code, pi/),
    ]);
    expect(code).toBe(1);
  });

  test.each([
    [[], /replay needs recordings/],
    [["one.jsonl", "--context", "wild"], /--context wild: must be one of economist, /],
    [["one.jsonl", "--prices", "gold"], /--prices gold: must be of/],
    [["one.jsonl", "--gaps", "none"], /--gaps none: must be one of recorded, ignore/],
    [["one.jsonl", "--format", "xml"], /--format xml: must be one of table, json, csv/],
    [["one.jsonl", "--jobs", "0"], /--jobs 0: must be a whole number above 0/],
    [["one.jsonl", "--tune", "--prices", ".1/1,.2/1"], /--tune takes one model/],
    [["."].concat("--check", "true"), /--check belongs to sawtooth fix/],
  ])("refuses %j in one line", async (words, message) => {
    const { code, stderr, stdout } = await replay(...words);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});
