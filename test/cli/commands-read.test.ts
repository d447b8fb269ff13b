/** Commands that cannot be read for certain are not run when nobody is there (T22), through the front door. */

import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sawtooth } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";

async function setUp(commands: string[]) {
  const calls = commands.map((command) => ({ calls: [{ bash: { command } }] }));
  const { server, workspace } = await serve([...calls, { text: "done" }]);
  writeFileSync(join(workspace.cwd, "kept.txt"), "kept\n");
  return { server, workspace };
}

const resultTexts = (requests: readonly { messages: unknown[] }[]): string =>
  JSON.stringify(requests.at(-1)?.messages);

const words = "-p go --permission-mode accept-edits --sandbox off --output-format json".split(" ");

test("reading is free, and what two readers see differently is told to the model and not run", async () => {
  const { server, workspace } = await setUp([
    "cat kept.txt | wc -l",
    "cat ke\\\npt.txt >&-",
    "cat <<A <<B\n1\nA\n2\nB",
  ]);
  const { stdout } = await sawtooth(workspace, words);
  const result = JSON.parse(stdout) as { permission_denials: { tool_input: { command: string } }[] };
  expect(result.permission_denials.map(({ tool_input }) => tool_input.command)).toEqual([
    "cat ke\\\npt.txt >&-",
    "cat <<A <<B\n1\nA\n2\nB",
  ]);
  expect(resultTexts(server.requests)).toContain("cannot be read for certain");
  expect(resultTexts(server.requests)).not.toContain("It would be allowed by --allow");
});

test("a denied program is not run in auto either, however it is written", async () => {
  const hidden = [
    "r\\\nm kept.txt",
    ">&-rm kept.txt",
    "true @(x); rm kept.txt",
    "echo cm0ga2VwdC50eHQK | base64 -d | sh",
  ];
  const { workspace } = await setUp([...hidden, "echo made > made.txt"]);
  const words = ["-p", "go", "--permission-mode", "auto", "--deny", "bash(rm:*)", "--output-format", "json"];
  const { stdout } = await sawtooth(workspace, words);
  expect((JSON.parse(stdout) as { permission_denials: unknown[] }).permission_denials).toHaveLength(
    hidden.length,
  );
  expect(existsSync(join(workspace.cwd, "kept.txt"))).toBe(true);
  expect(existsSync(join(workspace.cwd, "made.txt"))).toBe(true);
});

test("a link in the workspace that leads out of it makes nothing outside free, nor writable", async () => {
  const { workspace } = await setUp([
    "cat out/secret.txt",
    "echo x > out/.bashrc",
    "rm -rf out/*",
    "cat kept.txt",
  ]);
  writeFileSync(join(workspace.home, "secret.txt"), "secret\n");
  symlinkSync(workspace.home, join(workspace.cwd, "out"));
  const { stdout } = await sawtooth(workspace, [...words, "--allow", "bash(echo:*)"]);
  expect((JSON.parse(stdout) as { permission_denials: unknown[] }).permission_denials).toHaveLength(3);
  expect(existsSync(join(workspace.home, ".bashrc"))).toBe(false);
  expect(existsSync(join(workspace.home, "secret.txt"))).toBe(true);
});

test("in the default mode a folder can be looked through; links, odd names and secrets are not free", async () => {
  const free = [
    "pwd && ls -la",
    "cat k*.txt | wc -l",
    "sed -n '/k/p' kept.txt",
    'for f in *.txt; do head -1 "$f"; done',
    "find sub -name '*.txt' | xargs grep -n one",
    "node --version",
  ];
  const held = [
    "cat o*/secret.txt",
    "grep -R secret .",
    "find odd -type f | xargs cat",
    "cat .env",
    "touch made.txt",
    "printf -v PATH x",
  ];
  const { workspace } = await setUp([...free, ...held]);
  for (const folder of ["sub", "odd/a "]) mkdirSync(join(workspace.cwd, folder), { recursive: true });
  writeFileSync(join(workspace.cwd, "sub/a.txt"), "one\n");
  writeFileSync(join(workspace.cwd, "odd/a /b.txt"), "two\n");
  writeFileSync(join(workspace.cwd, ".env"), "KEY=x\n");
  writeFileSync(join(workspace.home, "secret.txt"), "secret\n");
  symlinkSync(workspace.home, join(workspace.cwd, "out"));
  const { stdout } = await sawtooth(workspace, ["-p", "go", "--output-format", "json"]);
  const result = JSON.parse(stdout) as { permission_denials: { tool_input: { command: string } }[] };
  expect(result.permission_denials.map(({ tool_input }) => tool_input.command)).toEqual(held);
  expect(existsSync(join(workspace.cwd, "made.txt"))).toBe(false);
});
