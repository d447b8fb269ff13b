/** Files that programs outside would run: moved away with the command that made them, and put back as they were. */

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SandboxPlan } from "../../src/core/sandbox.ts";
import { openQuarantine } from "../../src/sandbox/quarantine.ts";
import { createShell } from "../../src/tools/bash/shell/shell.ts";
import { engine, insideOf } from "./support.ts";

function fixture(existing: string[] = []) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "quarantine-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [work, folder] = [join(root, "work"), join(root, "session", "quarantine")];
  mkdirSync(work);
  for (const name of existing) writeFileSync(join(work, name), "own");
  const approved = new Set<string>();
  const quarantine = openQuarantine({
    ...{ folder, workspace: [work], isApproved: (path) => approved.has(path) },
    watched: () => [".vscode", ".envrc", ".mcp.json"].map((name) => join(work, name)),
  });
  return { root, work, folder, approved, quarantine };
}

describe("S08 new-watched: what other programs would run", () => {
  test("is moved away when it appears, and comes back byte for byte", () => {
    const { work, folder, quarantine } = fixture();
    mkdirSync(join(work, ".vscode"));
    writeFileSync(join(work, ".vscode", "tasks.json"), "\u0000tasks\r\n", { mode: 0o751 });
    symlinkSync("/etc/passwd", join(work, ".vscode", "link"));
    writeFileSync(join(work, ".envrc"), "evil");
    const { moved } = quarantine.look();
    expect(moved).toEqual([
      { path: join(work, ".vscode"), kept: join(folder, "1", ".vscode") },
      { path: join(work, ".envrc"), kept: join(folder, "2", ".envrc") },
    ]);
    expect(readdirSync(work)).toEqual([]);
    expect(quarantine.look().moved).toEqual([]);
    const [tasks] = moved;
    if (!tasks) throw new Error("nothing was moved");
    expect(quarantine.accept(tasks)).toBeUndefined();
    expect(readFileSync(join(work, ".vscode", "tasks.json"), "utf8")).toBe("\u0000tasks\r\n");
    expect(readlinkSync(join(work, ".vscode", "link"))).toBe("/etc/passwd");
    expect(quarantine.accept(tasks)).toContain("is gone");
  });

  test("stays where the person approved it, and a bare repository loses its HEAD unless it was one before", () => {
    const { work, approved, quarantine } = fixture();
    approved.add(join(work, ".mcp.json"));
    writeFileSync(join(work, ".mcp.json"), "{}");
    for (const name of ["objects", "refs"]) mkdirSync(join(work, name));
    writeFileSync(join(work, "HEAD"), "ref: refs/heads/main\n");
    expect(quarantine.look().moved.map(({ path }) => path)).toEqual([join(work, "HEAD")]);
    expect(existsSync(join(work, ".mcp.json"))).toBe(true);
    const again = openQuarantine({
      ...{
        folder: join(work, "..", "q"),
        workspace: [join(work, "bare")],
        isApproved: () => false,
        watched: () => [],
      },
    });
    expect(again.look().moved).toEqual([]);
  });

  test("is not looked for behind a link, and a name that is taken again is told", () => {
    const { root, work, quarantine } = fixture();
    writeFileSync(join(work, ".envrc"), "one");
    const [one] = quarantine.look().moved;
    if (!one) throw new Error("nothing was moved");
    writeFileSync(join(work, ".envrc"), "two");
    expect(quarantine.accept(one)).toContain("exists again");
    mkdirSync(join(root, "home"));
    symlinkSync(join(root, "home"), join(work, ".vscode"));
    writeFileSync(join(root, "home", "kept"), "kept");
    expect(quarantine.look().moved).toHaveLength(2);
    expect(readdirSync(join(root, "home"))).toEqual(["kept"]);
  });

  test("and may be changed freely is only told, once for each change", () => {
    const { work, quarantine } = fixture(["package.json", "README.md"]);
    expect(quarantine.look().noted).toEqual([]);
    writeFileSync(join(work, "package.json"), "changed");
    mkdirSync(join(work, ".github", "workflows"), { recursive: true });
    writeFileSync(join(work, ".github", "workflows", "ci.yml"), "new");
    expect(quarantine.look().noted).toEqual([
      join(work, "package.json"),
      join(work, ".github", "workflows", "ci.yml"),
    ]);
    expect(quarantine.look().noted).toEqual([]);
  });

  test("and is the interpreter of an editor, or the steps of a rebase that is half done, is told", () => {
    const { work, quarantine } = fixture(["file"]);
    const who = ["-c", "user.name=n", "-c", "user.email=e@example.com"];
    const git = (...words: string[]) => spawnSync("git", [...who, ...words], { cwd: work });
    git("init", "-q");
    git("add", "file");
    git("commit", "-qm", "one");
    mkdirSync(join(work, ".venv", "bin"), { recursive: true });
    symlinkSync("/usr/bin/env", join(work, ".venv", "bin", "python"));
    git("commit", "-qm", "two", "--allow-empty");
    expect(git("rebase", "-q", "--exec", "false", "--exec", "touch run", "HEAD~1").status).not.toBe(0);
    expect(quarantine.look().noted).toEqual([
      join(work, ".venv/bin/python"),
      join(work, ".git/rebase-merge/git-rebase-todo"),
    ]);
    git("rebase", "--abort");
    expect(quarantine.look().noted).toEqual([]);
  });
});

describe.skipIf(!engine)("in a sandbox", () => {
  test("S09 watched-exists: what exists is read-only, and what appears is gone with the command", async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "quarantine-inside-")));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [work, state] = [join(root, "work"), join(root, "state")];
    mkdirSync(join(work, ".vscode"), { recursive: true });
    writeFileSync(join(work, ".vscode", "tasks.json"), "own");
    mkdirSync(state);
    let plan: SandboxPlan | undefined;
    const sandbox = insideOf({ work, state }, {}, (made) => {
      plan = made;
    });
    const shell = createShell({
      ...{ cwd: work, env: process.env, sessionId: root.slice(-6), stateFolder: state },
      sandbox: async () => sandbox,
    });
    const out = join(state, "artifacts", "1.txt");
    writeFileSync(out, "");
    const output = { size: () => 0, view: async () => ({ text: "", total: {} }), close() {} };
    const io = { timeoutMs: 20_000, signal: new AbortController().signal, onProgress() {} };
    await shell.run(
      "echo evil > .vscode/tasks.json; rm -rf .vscode; mkdir .idea; echo evil > .idea/x; echo ok > file",
      {
        ...io,
        output: output as never,
        outputPath: out,
      },
    );
    const quarantine = openQuarantine({
      ...{ folder: join(state, "quarantine"), workspace: [work], isApproved: () => false },
      watched: () => plan?.watched ?? [],
    });
    expect(quarantine.look().moved.map(({ path }) => path)).toEqual([join(work, ".idea")]);
    await shell.close();
    expect(readFileSync(join(work, ".vscode", "tasks.json"), "utf8")).toBe("own");
    expect(readdirSync(work).sort()).toEqual([".vscode", "file"]);
  });
});
