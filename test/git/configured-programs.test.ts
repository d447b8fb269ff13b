/** Repositories that make a reading git run a program (T11), with real git and real repositories. */

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { programsInGit } from "../../src/git/configured-programs.ts";
import { childEnvironment } from "../../src/tools/bash/shell/environment.ts";
import { type HostileRepository, hostileRepository } from "../support/hostile-repository.ts";

let root: string;
let work: string;
let hostile: HostileRepository;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-git-")));
  work = join(root, "work");
  hostile = hostileRepository(work, root);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("a setting that names a program is found where git would run it", () => {
  test.each<[string, (program: string) => string, string[]]>([
    ["core.fsmonitor", (program) => `[core]\n\tfsmonitor = ${program}\n`, ["status"]],
    ["filter.x.clean", (program) => `[filter "x"]\n\tclean = ${program}\n`, ["diff"]],
    ["filter.x.process", (program) => `[filter "x"] process = ${program}\n`, ["status"]],
    ["diff.x.textconv", (program) => `[diff "x"]\n\ttextconv = ${program}\n`, ["diff"]],
    ["diff.x.command", (program) => `[DIFF "x"]\n\tCommand = "${program}"\n`, ["diff"]],
    ["diff.external", (program) => `[diff]\nexternal = ${program}\n`, ["diff"]],
    ["core.fsmonitor", (program) => `[user]\nname=x\n[core] ; why\nfsmonitor=${program} # why\n`, ["status"]],
  ])("%s", (name, setting, words) => {
    hostile.configure(setting(hostile.program));
    hostile.write("a.txt", "two\n");
    try {
      hostile.git(...words);
    } catch {
      // The program need not be a good filter.
    }
    expect(hostile.ran()).toBeDefined();
    expect(programsInGit(work)).toBe(`its configuration sets ${name}`);
    mkdirSync(join(work, "deep/er"), { recursive: true });
    expect(programsInGit(join(work, "deep/er"))).toBeDefined();
  });

  test.each([
    "[include]\n\tpath = ../other\n",
    '[includeIf "gitdir:/"]\n\tpath = ../other\n',
    "[gpg]\n\tprogram = x\n",
    "[log]\n\tshowSignature = true\n",
    "[core]\n\tsshCommand = x\n",
    "[core]\n\tworktree = /\n",
    '[remote "o"]\n\tuploadpack = x\n',
    '[merge "x"]\n\tdriver = x\n',
    '[submodule "x"]\n\tupdate = !x\n',
    "[something]\n\tnew = x\n",
    "what is this\n",
    "[core\n",
  ])("also where it is reached in other ways, or not known at all: %j", (text) => {
    hostile.configure(text);
    expect(programsInGit(work)).toBeDefined();
  });

  test("the hook that reading runs is found, in .git and where core.hooksPath leads", () => {
    copyFileSync(hostile.program, join(work, ".git/hooks/post-index-change"));
    chmodSync(join(work, ".git/hooks/post-index-change"), 0o755);
    hostile.write("a.txt", "one\n");
    hostile.git("status");
    expect(hostile.ran()).toContain("post-index-change");
    expect(programsInGit(work)).toContain("post-index-change");
    rmSync(join(work, ".git/hooks"), { recursive: true });
    expect(programsInGit(work)).toBeUndefined();
    mkdirSync(join(work, ".husky/_"), { recursive: true });
    hostile.configure("[core]\n\thooksPath = .husky/_\n");
    copyFileSync(hostile.program, join(work, ".husky/_/pre-commit"));
    expect(programsInGit(work)).toBeUndefined();
    copyFileSync(hostile.program, join(work, ".husky/_/post-index-change"));
    expect(programsInGit(work)).toBeDefined();
  });

  test("in a repository within the repository, and in a bare one among the files", () => {
    const inner = hostileRepository(join(work, "vendor/sub"), root);
    hostile.git("-c", "advice.addEmbeddedRepo=false", "add", "vendor/sub");
    expect(programsInGit(work)).toBeUndefined();
    inner.configure(`[core]\n\tfsmonitor = ${hostile.program}\n`);
    hostile.git("status");
    expect(hostile.ran()).toBeDefined();
    expect(programsInGit(work)).toBe("its configuration sets core.fsmonitor");
    for (const version of ["3", "4"]) {
      hostile.git("update-index", "--index-version", version, "--force-write-index");
      expect(programsInGit(work)).toBe("its configuration sets core.fsmonitor");
    }
    hostile.git("init", "-q", "--bare", "bare");
    hostile.git("-C", "bare", "config", "core.fsmonitor", hostile.program);
    expect(programsInGit(join(work, "bare"))).toBe("its configuration sets core.fsmonitor");
    expect(programsInGit(join(work, "bare/refs"))).toBe("its configuration sets core.fsmonitor");
  });

  test("through a link into it", () => {
    mkdirSync(join(root, "honest/.git"), { recursive: true });
    mkdirSync(join(work, "deep"));
    symlinkSync(join(work, "deep"), join(root, "honest/link"));
    expect(programsInGit(join(root, "honest/link"))).toBeUndefined();
    hostile.configure(`[core]\n\tfsmonitor = ${hostile.program}\n`);
    expect(programsInGit(join(root, "honest/link"))).toBe("its configuration sets core.fsmonitor");
  });

  test("in a second working tree, whose settings are those of the first", () => {
    hostile.git("worktree", "add", "-q", "../second");
    expect(programsInGit(join(root, "second"))).toBeUndefined();
    hostile.configure(`[filter "x"]\n\tsmudge = ${hostile.program}\n`);
    expect(programsInGit(join(root, "second"))).toBe("its configuration sets filter.x.smudge");
  });
});

test("a repository with what people set is free to be read", () => {
  hostile.configure(
    '[user]\n\temail = a@b.example ; mine\n[core]\n\tautocrlf = input\n\tfsmonitor = true\n[remote "origin"]\n' +
      '\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n' +
      "\tmerge = refs/heads/main\n\tvscode-merge-base = origin/main\n[pull]\n\trebase\n# the end\n[commit]\n\tgpgsign = true\n",
  );
  expect(programsInGit(work)).toBeUndefined();
  expect(programsInGit(root)).toBeUndefined();
});

test("settings that the user gives by the environment are kept beside ours", () => {
  const env = childEnvironment({
    ...{ PATH: process.env.PATH, HOME: root, GIT_CONFIG_COUNT: "1" },
    ...{ GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "someone" },
  });
  const asked = (key: string): string =>
    execFileSync("git", ["config", "--get", key], { cwd: work, env, encoding: "utf8" }).trim();
  hostile.configure(`[core]\n\tfsmonitor = ${hostile.program}\n`);
  expect([asked("user.name"), asked("core.fsmonitor"), asked("core.pager")]).toEqual([
    "someone",
    "false",
    "cat",
  ]);
});
