/** Files with rules: where they lie, what is refused in them, and that a change never loses what is there. */

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  changeProjectRules,
  changeUserRules,
  projectRulesFile,
  readProjectRules,
} from "../../src/config/stored-rules.ts";

let config: string;
beforeEach(() => {
  config = mkdtempSync(join(tmpdir(), "sawtooth-rules-"));
});
afterEach(() => {
  rmSync(config, { recursive: true, force: true });
});

test("each folder has a file of its own, also where names are the same or odd", () => {
  const files = ["/w/app", "/v/app", "/w/app/", "/", "/w/a b\n\u001b"].map((root) =>
    projectRulesFile(config, root),
  );
  expect(new Set(files).size).toBe(5);
  for (const file of files)
    expect(file.slice(config.length)).toMatch(/^\/projects\/[\w.-]+-[\da-f]{12}\.json$/);
});

test.each([
  ["", /not JSON/],
  ['{"folder": "/w/app"', /not JSON \(line 1/],
  ['{"folder": "/w/app"}', /allow/],
  ['{"folder": "/w/app", "allow": "bash"}', /allow/],
  ['{"folder": "/w/app", "allow": [1]}', /allow/],
  ['{"folder": "/w/app", "allow": ["npm test"]}', /write bash\(npm test\)/],
  ['{"folder": "/w/app", "allow": [], "deny": []}', /deny/],
  ['{"folder": "/w/other", "allow": ["bash"]}', /is for \/w\/other/],
])("a file that cannot be used says why and stays as it is: %j", (text, message) => {
  const file = projectRulesFile(config, "/w/app");
  mkdirSync(dirname(file));
  writeFileSync(file, text);
  expect(() => readProjectRules(file, "/w/app")).toThrow(message);
  expect(() => changeProjectRules(file, "/w/app", (rules) => [...rules, "bash(ls)"])).toThrow(message);
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("a change of the user's rules keeps every other setting, and the link that the file may be", () => {
  const [file, real] = [join(config, "settings.json"), join(config, "dotfiles.json")];
  writeFileSync(real, '{"model": "a/b", "deny": ["bash(rm:*)"], "allow": ["todo"]}');
  symlinkSync(real, file);
  changeUserRules(file, "allow", (rules) => [...rules, "bash(ls)"]);
  changeUserRules(file, "deny", () => []);
  expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({
    model: "a/b",
    deny: [],
    allow: ["todo", "bash(ls)"],
  });
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
});

test.skipIf(process.getuid?.() === 0)("a folder that cannot be written is told of", () => {
  chmodSync(config, 0o500);
  expect(() => changeUserRules(join(config, "settings.json"), "allow", () => ["bash"])).toThrow(
    /cannot be written/,
  );
});
