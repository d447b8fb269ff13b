/** The user's settings file: what is accepted, and the sentence for what is not. */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { readSettings, SettingsError } from "../../src/config/settings.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "settings-test-"));
  file = join(folder, "settings.json");
});

afterEach(() => rmSync(folder, { recursive: true }));

function read(content: string) {
  writeFileSync(file, content);
  return readSettings(file);
}

test("no file is no settings, and neither is a folder that is missing", () => {
  expect(readSettings(file)).toEqual({});
  expect(readSettings(join(folder, "none", "settings.json"))).toEqual({});
});

test("every known key is read", () => {
  const settings = {
    model: "anthropic/claude-sonnet-5-5",
    effort: "high",
    permissionMode: "accept-edits",
    allow: ["bash(npm test:*)"],
    deny: ["edit(vendor/**)"],
    context: "economist",
    window: 100_000,
    focus: "passive",
    models: { "openai/x": { window: 32_000 } },
    maxTurns: 50,
    maxBudgetUsd: 0.5,
    maxTime: "10m",
    shellTimeoutSeconds: 120,
  };
  expect(read(JSON.stringify(settings))).toEqual(settings);
  expect(read(`\ufeff${JSON.stringify({ model: "a/b" })}`)).toEqual({ model: "a/b" });
});

test.each([
  ['{\n  "model": "x"\n  "effort": "y"\n}', /is not JSON \(line 3, column 3\)/],
  ['{"a": }', /is not JSON \(line 1, column 7\)/],
  ['{\n "maxTurns": tru\n}', /is not JSON \(line 2, column 17\)/],
  ['{\n "model": "x",\n', /is not JSON \(line 3, column 1\)/],
  ["", /is not JSON \(line 1, column 1\)/],
  ['{"modle": "x"}', /unknown key "modle", did you mean model\?/],
  ['{"permission_mode": "ask"}', /did you mean permissionMode\?/],
  ['{"maxTurns": "3"}', /maxTurns must be an integer, not a string/],
  ['{"maxTurns": 0}', /maxTurns must be at least 1/],
  ['{"permissionMode": "yolo"}', /permissionMode must be one of ask, accept-edits, plan, auto/],
  ['{"allow": "bash"}', /allow must be an array, not a string/],
  ['{"deny": [1]}', /deny\[0\] must be a string/],
  ['{"allow": ["bash(npm"]}', /the rule "bash\(npm" has no closing parenthesis/],
  ["[1]", /must be an object, not an array/],
])("a wrong file is refused with one line that names it: %j", (content, message) => {
  const attempt = () => read(content);
  expect(attempt).toThrow(SettingsError);
  expect(attempt).toThrow(message);
  try {
    attempt();
  } catch (error) {
    expect((error as Error).message).not.toContain("\n");
    expect((error as Error).message).toContain(file);
  }
});

test("a pipe is refused at once, where reading would wait for ever, and so is what is far too large", () => {
  const [pipe, large] = [join(folder, "pipe"), join(folder, "large")];
  execFileSync("mkfifo", [pipe]);
  // A writer that only comes and goes, so that whoever reads it after all gets an end.
  const writer = spawn("sh", ["-c", ': > "$0"', pipe]);
  onTestFinished(() => void writer.kill("SIGKILL"));
  writeFileSync(large, " ".repeat(5 * 1024 * 1024));
  expect(() => readSettings(pipe)).toThrow(`${pipe} is a pipe: write the settings to a file, or remove it`);
  expect(() => readSettings(large)).toThrow(`${large} is larger than 4 MB: correct or remove it`);
});

test("a file that cannot be read is refused with its reason", () => {
  mkdirSync(file);
  expect(() => readSettings(file)).toThrow(/settings.json cannot be read \(EISDIR\)/);
});
