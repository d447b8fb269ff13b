import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { packageVersion } from "../../src/app/prompts.ts";
import { parseCommand } from "../../src/cli/arguments/arguments.ts";
import { takes } from "../../src/cli/arguments/option.ts";
import { allOptions } from "../../src/cli/arguments/options.ts";
import { taskKey, taskOptions } from "../../src/cli/arguments/task-options.ts";
import { helpText } from "../../src/cli/help.ts";
import { drive } from "../support/pty-drive.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";
import { root } from "../support/source.ts";

describe("an option that a command does not take is refused in one line that says where it belongs", () => {
  test.each([
    [["--list", "x"], "--list belongs to sawtooth undo"],
    [["undo", "--clean"], "--clean belongs to sawtooth doctor"],
    [["doctor", "--step", "3"], "--step belongs to sawtooth report"],
    [["sessions", "--html", "a.html"], "--html belongs to sawtooth report and replay"],
    [["report", "--format", "md"], "--format belongs to sawtooth replay and sessions"],
    [["report", "--tune"], "--tune belongs to sawtooth replay"],
    [["demo", "--redo"], "--redo belongs to sawtooth undo"],
    [["-p", "fix", "--check", "x"], "--check belongs to sawtooth fix"],
    [["replay", "a.jsonl", "--shard", "1/2"], "--shard belongs to sawtooth batch"],
  ])("%j", (words, message) => {
    expect(() => parseCommand(words)).toThrow(`${message} (see sawtooth --help)`);
  });

  test.each([
    [
      ["report", "--model", "a/b"],
      "--model has no effect on report: it takes --resume, --session-dir, --verbose",
    ],
    [["sessions", "-p", "list"], undefined],
    [
      ["sessions", "list", "--max-turns", "3"],
      "--max-turns has no effect on sessions: it takes --session-dir",
    ],
    [["undo", "--continue"], "--continue has no effect on undo: it takes --session-dir"],
    [
      ["replay", "a.jsonl", "--verbose"],
      "--verbose has no effect on replay: it takes --permission-mode, --allow, --deny, --window",
    ],
    [["schema", "events", "--bare"], "--bare has no effect on schema: it takes no options"],
  ])("nor does a command that only reads take options of a session: %j", (words, message) => {
    if (message) expect(() => parseCommand(words)).toThrow(message);
    else expect(() => parseCommand(words)).toThrow("more than one prompt");
  });

  test("on the command line too, with exit code 2", async () => {
    const workspace = makeWorkspace();
    onTestFinished(workspace.remove);
    const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "x", "--clean"]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: "sawtooth: --clean belongs to sawtooth doctor (see sawtooth --help)\n",
    });
  });
});

describe("an option without an effect beside the others is refused in one line, and never ignored", () => {
  test.each([
    ["replay a --reuse --context raw", "--context has no effect with --reuse, which takes --format, --html"],
    ["replay a --reuse --window 9000", "--window has no effect with --reuse"],
    ["replay a --permissions --html a.html", "--html has no effect with --permissions"],
    ["replay a --tune --format csv", "--format has no effect with --tune, which takes --prices, --gaps"],
    ["replay a --allow read(a)", "--allow has no effect on replay without --permissions"],
    ["report --html a.html --verbose", "--verbose has no effect with --html"],
    ["report --html a.html --step 2", "--step has no effect with --html"],
    ["report --step 2 --verbose", "--verbose has no effect with --step"],
    ["report --serve --step 2", "--step has no effect with --serve, which shows all of the report"],
    ["report abc --resume def", "--resume has no effect beside the session that is named"],
    ["egress abc --resume def", "--resume has no effect beside the session that is named"],
    ["sessions --redact", "--redact has no effect on sessions list, which takes --session-dir, --verbose"],
    ["sessions show abc --format html", "--format has no effect on sessions show"],
    ["sessions export --verbose", "--verbose has no effect on sessions export"],
    ["undo --list --to 3", "--to has no effect with --list"],
    ["undo --list --redo", "--redo has no effect with --list"],
    ["mcp remove a --output-format json", "--output-format has no effect here: mcp list and mcp get take it"],
    ["acp login anthropic --model a/b", "--model has no effect on acp login"],
    ["batch --summary out --model a/b", "--model has no effect with --summary"],
    ["batch compare a b --effort low", "--effort has no effect on batch compare"],
    ["batch a.jsonl --out out --verbose", "--verbose has no effect on batch"],
    ["fix --check true --json-schema {}", "--json-schema has no effect on fix"],
    ["fix --check true --quarantine", "--quarantine has no effect on fix"],
    ["demo --output-format json", "--output-format has no effect on demo"],
    ["-p x -c -r abc", "--continue has no effect beside --resume, which names the session"],
    ["-p x --model openai/a --loose", "--loose has no effect with a model that is no recorded/<file>"],
    ["-p x --quarantine --json-schema {} --allow read(a)", "--allow has no effect with --quarantine"],
    ["-p x --quarantine --json-schema {} -w tree", "--worktree has no effect with --quarantine"],
  ])("%s", (words, message) => {
    expect(() => parseCommand(words.split(" "))).toThrow(message);
  });

  test.each([
    "replay a --reuse --format json --html a.html",
    "replay a --permissions --deny read(a) --format csv",
    "replay a --tune --prices a/b --gaps ignore --window 9000 --jobs 2",
    "replay a --context raw --html a.html --format json",
    "report abc --verbose --session-dir d",
    "report -r abc --html a.html",
    "sessions list --verbose",
    "sessions export abc --redact --format json",
    "mcp list --output-format json",
    "batch --summary out --output-format json",
    "fix --check true -c --fork --verbose --debug d",
    "demo --model recorded/a --loose --verbose --plain",
    "-p x --quarantine --json-schema {} --model a/b --max-turns 3 --output-format json",
  ])("but not one that has: %s", (words) => {
    expect(parseCommand(words.split(" "))).toHaveProperty("flags");
  });
});

test.each([
  ["--quarantine", "--json-schema", "{}"],
  ["--debug", "file"],
])("nor does a session on a screen ignore an option of headless runs: %s", async (...words) => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const terminal = drive(workspace, words);
  await terminal.until("has no effect on the screen: add -p");
  expect(await terminal.ended).toMatchObject({ code: 2 });
  expect(terminal.whole().filter(Boolean)).toEqual([
    `sawtooth: ${words[0]} has no effect on the screen: add -p`,
  ]);
});

test("each option is read as the same command line with its value written the other way", () => {
  expect(parseCommand(["-r", "abc", "--max-time=90s"])).toEqual(
    parseCommand(["--resume=abc", "--max-time", "1.5m"]),
  );
  expect(parseCommand(["undo", "--to", "0"])).toMatchObject({ name: "undo", flags: { to: 0, redo: false } });
  expect(parseCommand(["-r"])).toMatchObject({ flags: { resume: "" } });
  expect(parseCommand(["replay", "a", "--format", "csv", "--context", "raw,,masking"])).toMatchObject({
    flags: { tableFormat: "csv", contexts: ["raw", "masking"], gaps: "recorded" },
  });
});

test("the last of several values counts, and a list keeps them all", () => {
  const words = ["--window", "9000", "--allow", "read(a)", "--window", "8000", "--allow", "read(b)", "x"];
  expect(parseCommand(words)).toMatchObject({ flags: { window: 8000, allow: ["read(a)", "read(b)"] } });
});

test("a name of an option has one meaning in each command", () => {
  const twice = allOptions.filter((option) =>
    allOptions.some(
      (other) =>
        other !== option && other.name === option.name && other.commands?.some((name) => takes(option, name)),
    ),
  );
  // Replay takes several stacks where the others take one.
  expect(twice.map(({ field }) => field)).toEqual(["context"]);
});

test("the help names every option, in rows of at most 120 columns", () => {
  const rows = helpText().split("\n");
  expect(rows.filter((row) => row.length > 120)).toEqual([]);
  for (const { name } of allOptions)
    expect(
      rows.some((row) => row.includes(` --${name}`)),
      name,
    ).toBe(true);
});

test("the documentation of batches names every key that a task takes", () => {
  const page = readFileSync(join(root, "docs/batch.md"), "utf8");
  expect(taskOptions.map(taskKey).filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
});

test("the version is that of the package, from source too", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(packageVersion()).toBe(version);
});
