/** The page about extending: its server works as it is written, and its settings are taken. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readSettings } from "../../src/config/settings.ts";
import { writeSettings } from "../support/sawtooth.ts";
import { mcp, withServers } from "./session.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/extending.md"), "utf8");
const block = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(page)?.[1] ?? "";

test("extending.md: the server in ten lines is one, and its entry starts it", async () => {
  const call = mcp("dice", "roll", { arguments: { sides: 6 } });
  const seen = await withServers([{ calls: [call] }, { text: "on" }], {});
  const folder = join(seen.workspace.home, "dice");
  mkdirSync(folder);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "dice.mjs"), block("js"));
  const [, entry = ""] = /`("dice": .*)`/.exec(page) ?? [];
  const servers = JSON.parse(`{${entry.replace("/path/to", folder)}}`) as { dice: { command: string } };
  servers.dice.command = process.execPath;
  writeSettings(seen.workspace, { mcpServers: servers });
  await seen.run("--permission-mode", "auto");
  expect(seen.results()[0]).toMatch(/^rolled [1-6] of 6$/);
});

test("extending.md: its settings are taken", async () => {
  const { workspace } = await withServers([], {});
  const file = join(workspace.cwd, "settings.json");
  writeFileSync(file, block("json"));
  expect(readSettings(file).mcpServers).toHaveProperty("github");
});
