/** Characters that files, programs and pipes hide from people reach the model as visible escapes (S52). */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMockServer } from "../support/mock-server.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";

const hidden = "x\u{e0072}\u{e006d}\u202ey\u2066\u200b";
const shown = "x\\u{e0072}\\u{e006d}\\u{202e}y\\u{2066}\\u{200b}";
const raw = /[\u202a-\u202e\u2066-\u2069\u200b\u{e0000}-\u{e007f}]/u;

test("S52 invisible: output, file names, commit messages, views, errors of tools and piped text are spelled out; bytes stay", async () => {
  const view = (path: string) => ({ str_replace_editor: { command: "view", path } });
  const server = await startMockServer({
    turns: [
      { calls: [{ bash: { command: "cat f; ls; git log --format=%s; cat f >&2" } }] },
      { calls: [view("f")] },
      { calls: [view(".")] },
      { calls: [view(`${hidden}-missing`)] },
      { text: "done" },
    ],
  });
  const workspace = makeWorkspace(server.url);
  onTestFinished(async () => {
    await server.close();
    workspace.remove();
  });
  writeFileSync(join(workspace.cwd, "f"), `${hidden}\n`);
  writeFileSync(join(workspace.cwd, `name-${hidden}`), "");
  const git = (...words: string[]) => spawnSync("git", words, { cwd: workspace.cwd });
  git("init", "-q");
  git(
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    `subject ${hidden}`,
  );
  const words = ["-p", "go", "--permission-mode", "auto"];
  expect((await sawtooth(workspace, words, { input: `piped ${hidden}` })).code).toBe(0);
  const messages = server.requests.at(-1)?.messages ?? [];
  const results = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => JSON.stringify(content));
  const escaped = JSON.stringify(shown).slice(1, -1);
  expect(results).toHaveLength(5);
  for (const result of results) {
    expect(result).toContain(escaped);
    expect(result).not.toMatch(raw);
  }
  expect(results[1]?.split(escaped)).toHaveLength(5);
  expect(spawnSync("cat", ["f"], { cwd: workspace.cwd }).stdout.toString()).toBe(`${hidden}\n`);
});
