/** The reference pages of docs/ name all that there is: settings, variables, numbers, stacks, slash commands. */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readSettings, type Settings } from "../../src/config/settings.ts";
import { defaultSettings } from "../../src/context/policies/settings.ts";
import { contextNames } from "../../src/context/policies/stacks.ts";
import { commands } from "../../src/tui/commands/commands.ts";
import { tempWorkspace } from "../support/served.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = (name: string) => readFileSync(join(root, "docs", name), "utf8");

/** The type makes this list complete. */
const settings: Record<keyof Settings, true> = {
  model: true,
  effort: true,
  permissionMode: true,
  sandbox: true,
  allow: true,
  deny: true,
  context: true,
  window: true,
  focus: true,
  summaryModel: true,
  delegateModels: true,
  engine: true,
  models: true,
  providers: true,
  maxTurns: true,
  maxBudgetUsd: true,
  maxTime: true,
  shellTimeoutSeconds: true,
  egress: true,
  mcpServers: true,
  hooks: true,
  webSearch: true,
  notify: true,
};

test("configuration.md has a row for each setting, and its examples are settings that are taken", () => {
  const text = page("configuration.md");
  for (const key of Object.keys(settings)) expect(text).toContain(`\n| \`${key}\` |`);
  const examples = [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
  const file = join(tempWorkspace().cwd, "settings.json");
  for (const example of examples) {
    writeFileSync(file, example);
    expect(() => readSettings(file), example).not.toThrow();
  }
  expect(Object.keys(JSON.parse(examples[0] ?? "{}") as object)).toEqual(Object.keys(settings));
});

test("configuration.md has each number of the engine with its default", () => {
  for (const [name, value] of Object.entries(defaultSettings))
    expect(page("configuration.md")).toContain(`\n| \`${name}\` | ${value} |`);
});

/** Read to know the machine, not to be set for Sawtooth. */
const machine =
  /^(HOME|PATH|TERM|LANG|LC_\w+|DISPLAY|WAYLAND_DISPLAY|TMUX|SSH_CONNECTION|XTERM_VERSION|GIT_CONFIG_COUNT)$/;

test("configuration.md names each environment variable that the source reads", () => {
  const sources = globSync("{src,bin}/**/*.{ts,js}", { cwd: root }).map((path) =>
    readFileSync(join(root, path), "utf8"),
  );
  const names = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/\benv\.([A-Z][A-Z_]+)\b|"(SAWTOOTH_[A-Z_]+)"/g)].map(
        (match) => match[1] ?? match[2],
      ),
    ),
  );
  expect(names.size).toBeGreaterThan(15);
  const text = page("configuration.md");
  const missing = [...names].filter((name = "") => !machine.test(name) && !text.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});

test("context-engine.md has a row for each policy stack", () => {
  for (const name of contextNames)
    expect(page("context-engine.md")).toMatch(new RegExp(`^\\| \`${name}\``, "m"));
});

test("keyboard.md has a row for each slash command", () => {
  for (const { name } of commands)
    expect(page("keyboard.md")).toMatch(new RegExp(`^\\| \`/${name}[\` ]`, "m"));
});
