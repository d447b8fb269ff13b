/** Project instructions from real folders, hostile ones among them. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { projectInstructions, workspaceRoot } from "../../src/config/instructions.ts";

let base: string;
let workspace: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "instructions-test-")));
  workspace = join(base, "repo");
  mkdirSync(join(workspace, ".git"), { recursive: true });
});

afterEach(() => rmSync(base, { recursive: true }));

function put(path: string, text: string): string {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function read(cwd = workspace, home = join(base, "home"), root = workspace) {
  return projectInstructions({ cwd, workspace: root, home, configFolder: join(base, "config") });
}

describe("instructions", () => {
  test("come from the user, then from the workspace down to the folder, CLAUDE.md where there is no AGENTS.md", () => {
    const paths = [
      put("config/AGENTS.md", "mine"),
      put("repo/AGENTS.md", "of the repository"),
      put("repo/packages/CLAUDE.md", "of the packages"),
      put("repo/packages/a/AGENTS.md", "of a"),
    ];
    put("repo/CLAUDE.md", "shadowed");
    put("repo/other/AGENTS.md", "beside the way");
    put("AGENTS.md", "above the workspace");
    const found = read(join(workspace, "packages/a"));
    expect(found.warnings).toEqual([]);
    expect(found.files.map((file) => file.path)).toEqual(paths);
    expect(found.files.map((file) => file.text)).toEqual([
      "mine",
      "of the repository",
      "of the packages",
      "of a",
    ]);
  });

  test("that lead out of the workspace are refused with a warning, links inside it are followed", () => {
    const link = join(workspace, "AGENTS.md");
    put("secret", "outside");
    for (const target of ["/etc/passwd", "../secret", join(base, "secret"), "nowhere"]) {
      symlinkSync(target, link);
      expect(read()).toEqual({ files: [], warnings: [expect.stringContaining(link)] });
      rmSync(link);
    }
    put("repo-evil/AGENTS.md", "beside");
    symlinkSync("../repo-evil/AGENTS.md", link);
    expect(read().files).toEqual([]);
    rmSync(link);
    put("repo/CLAUDE.md", "inside");
    symlinkSync("CLAUDE.md", link);
    expect(read()).toEqual({ files: [{ path: link, text: "inside" }], warnings: [] });
  });

  test("that link into a hidden folder of the home are refused even when the home is the workspace", () => {
    put("repo/.ssh/id_rsa", "key");
    symlinkSync(".ssh/id_rsa", join(workspace, "AGENTS.md"));
    expect(read(workspace, workspace)).toEqual({
      files: [],
      warnings: [expect.stringContaining("AGENTS.md")],
    });
  });

  test("that are a folder or a pipe are refused without waiting", () => {
    mkdirSync(join(workspace, "AGENTS.md"));
    expect(read().warnings).toEqual([expect.stringContaining("it is not a file")]);
    rmSync(join(workspace, "AGENTS.md"), { recursive: true });
    const makePipe = "mkfifo";
    execFileSync(makePipe, [join(workspace, "AGENTS.md")]);
    expect(read().warnings).toEqual([expect.stringContaining("it is not a file")]);
  });

  test("show what is invisible and run or include nothing", () => {
    const hidden = "\u{e0041}\u{e007f}\u202e\u200b\ufeff\u0007\u001b[2J\u2028\u3164";
    put("repo/AGENTS.md", `Use tabs.\r\n\tYes: é 漢 🟢\n!\`touch x\` @/etc/passwd\n${hidden}`);
    const [file] = read().files;
    expect(file?.text).toBe(
      "Use tabs.\n\tYes: é 漢 🟢\n!`touch x` @/etc/passwd\n" +
        "\\u{E0041}\\u{E007F}\\u{202E}\\u{200B}\\u{FEFF}\\u{7}\\u{1B}[2J\\u{2028}\\u{3164}",
    );
  });

  test("longer than 32 KB are cut at a whole character, with a note", () => {
    const path = put("repo/AGENTS.md", "é".repeat(20_000).padStart(20_001, "x"));
    const [file] = read().files;
    expect(file?.text).toBe(
      `x${"é".repeat(16_383)}\n[cut after 32768 of 40001 bytes; the rest is in ${path}]`,
    );
  });

  test("that say nothing are left out", () => {
    put("repo/AGENTS.md", " \n");
    expect(read()).toEqual({ files: [], warnings: [] });
  });
});

describe("the workspace", () => {
  test("is the top of the repository, also from a link and where .git is a file; else the folder itself", () => {
    mkdirSync(join(workspace, "a/b"), { recursive: true });
    symlinkSync(join(workspace, "a"), join(base, "link"));
    expect(workspaceRoot(join(base, "link/b"))).toBe(workspace);
    put("worktree/.git", "gitdir: elsewhere");
    expect(workspaceRoot(join(base, "worktree"))).toBe(join(base, "worktree"));
    mkdirSync(join(base, "plain"));
    expect(workspaceRoot(join(base, "plain"))).toBe(join(base, "plain"));
  });
});
