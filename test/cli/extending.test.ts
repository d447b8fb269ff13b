/** The page about extending: what it shows in ten lines is run as it is written. Each of these sections has a trial. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readSettings } from "../../src/config/settings.ts";
import { mcp, withServers } from "../mcp/session.ts";
import { sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/extending.md"), "utf8");

/** The sections that show something in ten lines, by their first words: `A server`. */
const shown = new Map(
  page.split(/^## /m).flatMap((section): [string, string][] => {
    const [, what = ""] = /^(.+) in ten lines\n/.exec(section) ?? [];
    return what === "" ? [] : [[what, section]];
  }),
);
const section = (what: string) => shown.get(what) ?? "";
const blockOf = (text: string) => /^```\w+\n([\s\S]*?)^```/m.exec(text)?.[1] ?? "";
const block = (what: string) => blockOf(section(what));

/** Starts the server of the page in a workspace, and returns its entry. */
function diceIn({ home }: Workspace): { dice: object } {
  const folder = join(home, "dice");
  mkdirSync(folder);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "dice.mjs"), block("A server"));
  const [, entry = ""] = /`("dice": .*)`/.exec(section("A server")) ?? [];
  const { dice } = JSON.parse(`{${entry.replace("/path/to", folder)}}`) as { dice: object };
  return { dice: { ...dice, command: process.execPath } };
}

const roll = mcp("dice", "roll", { arguments: { sides: 6 } });

const trials: Record<string, () => Promise<void>> = {
  async "A server"() {
    const seen = await withServers([{ calls: [roll] }, { text: "on" }], {});
    writeSettings(seen.workspace, { mcpServers: diceIn(seen.workspace) });
    await seen.run("--permission-mode", "auto");
    expect(seen.results()[0]).toMatch(/^rolled [1-6] of 6$/);
  },

  async "A skill"() {
    const seen = await withServers([{ text: "on" }], {});
    const { home, env } = seen.workspace;
    execFileSync("bash", ["-ec", block("A skill")], { cwd: home, env: { ...env, HOME: home } });
    await seen.run();
    expect(seen.server.rawBodies[0]).toContain("release-notes: How we write release notes.");
  },

  async "A plug-in"() {
    const seen = await withServers([{ text: "on" }], {});
    const { cwd, env } = seen.workspace;
    const lines = block("A plug-in").trim().split("\n");
    const [program, ...words] = (lines.pop() ?? "").split(" ");
    expect(program).toBe("sawtooth");
    execFileSync("bash", ["-ec", lines.join("\n")], { cwd, env });
    const { stdout } = await sawtooth(seen.workspace, words);
    const hash = /^Hash of all its files: (\w+)$/m.exec(stdout)?.[1] ?? "";
    await sawtooth(seen.workspace, [...words, "--yes", hash]);
    await seen.run();
    expect(seen.server.rawBodies[0]).toContain("greet: How we greet.");
  },

  async "A rule"() {
    const create = (path: string) => ({
      str_replace_editor: { command: "create", path, file_text: "x\n" },
    });
    const calls = [
      { bash: { command: "npm test --silent" } },
      create("docs/page.md"),
      roll,
      { bash: { command: "mcp dice roll sides=6 | wc -l" } },
      create("src/app.js"),
      { bash: { command: "git -C . push origin main" } },
      { str_replace_editor: { command: "view", path: "secrets/key.txt" } },
    ];
    const seen = await withServers([...calls.map((call) => ({ calls: [call] })), { text: "on" }], {});
    const { cwd } = seen.workspace;
    writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts: { test: "echo tested" } }));
    mkdirSync(join(cwd, "secrets"));
    writeFileSync(join(cwd, "secrets/key.txt"), "canary");
    const rules = JSON.parse(block("A rule")) as object;
    writeSettings(seen.workspace, { ...rules, mcpServers: diceIn(seen.workspace) });
    await seen.run();
    const [tests, edit, rolled, line, other, push, secret] = seen.results();
    expect(tests).toBe("tested");
    expect(edit).toContain("docs/page.md");
    expect(rolled).toMatch(/^rolled/);
    expect(line).toBe("1");
    expect(other).toContain("It would be allowed by --allow 'edit(src/app.js)'.");
    expect(push).toContain("The rule bash(git push:*) denies this.");
    expect(secret).toContain("The rule read(secrets/**) denies this.");
  },
};

test("each section in ten lines has a trial, and ten lines", () => {
  expect([...shown.keys()].sort()).toEqual(Object.keys(trials).sort());
  for (const [what, text] of shown) {
    const lines = blockOf(text)
      .split("\n")
      .filter((line) => line.trim() !== "");
    expect(lines.length, what).toBeGreaterThan(0);
    expect(lines.length, what).toBeLessThanOrEqual(10);
  }
});

test.each(Object.keys(trials))("%s works as it is written", async (what) => {
  await trials[what]?.();
});

test("the settings at the top are taken", async () => {
  const { workspace } = await withServers([], {});
  const file = join(workspace.cwd, "settings.json");
  writeFileSync(file, blockOf(page));
  expect(readSettings(file).mcpServers).toHaveProperty("github");
});
