import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entry } from "../../support/entry.ts";
import type { Workspace } from "../../support/sawtooth.ts";
import { git } from "../fix/fix-workspace.ts";
import { batchWorkspace, patchOf, results, run, shellScript, write, writeTasks } from "./batch-workspace.ts";

/** Runs one task that runs `command` in its files, and keeps these. Returns their folder. */
async function work(
  workspace: Workspace,
  task: object,
  command: string,
): Promise<{ tree: string; stderr: string }> {
  const model = shellScript(workspace, "work", command);
  writeTasks(workspace, [{ id: "one", prompt: "Do it.", permission_mode: "auto", ...model, ...task }]);
  const { stderr } = await run(workspace, "--keep-trees");
  return { tree: join(workspace.cwd, "out/tasks/one/run-1/tree"), stderr };
}

describe("what a task works on", () => {
  test("a clean repository at its commit, cut off from the original: no remote, no later history", async () => {
    const workspace = batchWorkspace();
    const project = join(workspace.cwd, "project");
    git(project, "tag", "v1");
    writeFileSync(join(project, "a.txt"), "the answer\n");
    git(project, "commit", "--quiet", "-am", "later");
    const before = git(project, "for-each-ref");
    const later = git(project, "rev-parse", "HEAD").trim();
    const command = `git config user.name t; git config user.email t@l; git commit --allow-empty -qm mine; git branch more; git stash; git log --oneline --all > log.txt; git cat-file -e ${later} || echo absent >> log.txt; git push 2>> log.txt`;
    const { tree } = await work(workspace, { repo: "project", ref: "v1", sandbox: "off" }, command);
    expect(readFileSync(join(tree, "a.txt"), "utf8")).toBe("one\n");
    const log = readFileSync(join(tree, "log.txt"), "utf8");
    expect(log).toMatch(/mine\n\w+ start\nabsent\n/);
    expect(log).toContain("No configured push destination");
    expect(git(project, "for-each-ref")).toBe(before);
    expect(git(project, "stash", "list")).toBe("");
  });

  test("a repository by URL is fetched once for all its tasks; a name and password in it are not shown", async () => {
    const workspace = batchWorkspace();
    const url = `file://${workspace.cwd}/project`;
    const model = shellScript(workspace, "work", "echo two > a.txt");
    const task = { prompt: "Do it.", permission_mode: "auto", ...model };
    const commit = git(join(workspace.cwd, "project"), "rev-parse", "HEAD").trim();
    writeTasks(workspace, [
      { id: "one", repo: url, ...task },
      { id: "two", repo: url, ref: commit, ...task },
      { id: "gone", repo: "https://me:hunter2@localhost:1/x.git", ...task },
    ]);
    const { code, stderr } = await run(workspace, "--jobs", "1");
    expect(code).toBe(1);
    expect(results(workspace).map(({ state, origin }) => [state, origin?.commit])).toEqual([
      ["done", commit],
      ["done", commit],
      ["error", undefined],
    ]);
    expect(readdirSync(join(workspace.cwd, "out/repos"))).toHaveLength(2);
    expect(`${stderr}${JSON.stringify(results(workspace))}`).not.toContain("hunter2");
  });

  test("a repository with changes: they are there, the patch holds only what the agent did", async () => {
    const workspace = batchWorkspace({ "a.txt": "one\n", "gone.txt": "x\n", ".gitignore": "big\n" });
    write(workspace, "project/a.txt", "changed\n");
    write(workspace, "project/new.txt", "new\n");
    write(workspace, "project/big/cache", "kept\n");
    rmSync(join(workspace.cwd, "project/gone.txt"));
    const { tree, stderr } = await work(
      workspace,
      { repo: "project" },
      "git status --short > /dev/null; echo b > b.txt",
    );
    expect(stderr).toContain("copied (it has uncommitted changes): 4 files, 1 kB");
    expect(
      git(tree, "status", "--short")
        .trim()
        .split("\n")
        .map((line) => line.trim()),
    ).toEqual(["M a.txt", "D gone.txt", "?? b.txt", "?? new.txt"]);
    expect(readFileSync(join(tree, "big/cache"), "utf8")).toBe("kept\n");
    expect(patchOf(workspace, "one")).toMatch(/^diff --git a\/b\.txt/);
    expect(patchOf(workspace, "one")).not.toContain("changed");
    expect(results(workspace)[0]?.origin).toMatchObject({ kind: "copy", files: 4 });
  });

  test("a folder without git is copied with modes and links, which lead nowhere into the original", async () => {
    const workspace = batchWorkspace();
    const plain = join(workspace.cwd, "plain");
    write(workspace, "plain/run.sh", "#!/bin/sh\n");
    chmodSync(join(plain, "run.sh"), 0o750);
    mkdirSync(join(plain, "shut"));
    write(workspace, "plain/shut/in.txt", "in\n");
    chmodSync(join(plain, "shut"), 0o555);
    symlinkSync("run.sh", join(plain, "near"));
    symlinkSync(join(plain, "run.sh"), join(plain, "far"));
    symlinkSync("/etc/hostname", join(plain, "out-there"));
    git(plain, "-c", "x.y=z", "--version");
    execFileSync("mkfifo", [join(plain, "pipe")]);
    const { tree, stderr } = await work(workspace, { repo: "plain" }, "echo more >> far");
    chmodSync(join(plain, "shut"), 0o755);
    expect(stderr).toContain(
      "copied (no git repository): 2 files, 1 kB; 1 link leads outside: out-there; skipped, not a file: pipe",
    );
    expect(readFileSync(join(plain, "run.sh"), "utf8")).toBe("#!/bin/sh\n");
    expect(readFileSync(join(tree, "run.sh"), "utf8")).toBe("#!/bin/sh\nmore\n");
    expect(lstatSync(join(tree, "run.sh")).mode & 0o777).toBe(0o750);
    expect(lstatSync(join(tree, "shut")).mode & 0o777).toBe(0o555);
    expect([readlinkSync(join(tree, "near")), readlinkSync(join(tree, "far"))]).toEqual(["run.sh", "run.sh"]);
    expect(existsSync(join(tree, "pipe"))).toBe(false);
    chmodSync(join(tree, "shut"), 0o755);
  });

  test("the folder that holds the results is not copied into itself, and is none of the project's files", async () => {
    const workspace = batchWorkspace();
    git(workspace.cwd, "init", "--quiet");
    const { stderr } = await work(workspace, { repo: "." }, "ls > list.txt");
    expect(stderr).toContain("copied (no commit yet)");
    const list = readFileSync(join(workspace.cwd, "out/tasks/one/run-1/tree/list.txt"), "utf8");
    expect(list).toBe("list.txt\nproject\ntasks.jsonl\nwork.json\n");
    expect(git(workspace.cwd, "status", "--short")).not.toContain("out");
  });

  test("without a repository it is an empty folder, whose parents are not the agent's business", async () => {
    const workspace = batchWorkspace();
    git(workspace.cwd, "init", "--quiet");
    write(workspace, "AGENTS.md", "Never do anything.");
    const { tree } = await work(workspace, {}, "git rev-parse --show-toplevel > top.txt");
    expect(readFileSync(join(tree, "top.txt"), "utf8").trim()).toBe(tree);
    const stream = readFileSync(join(tree, "../stream.jsonl"), "utf8");
    expect(stream).not.toContain("Never do anything");
  });

  test("folders that may not be written are removed with the rest, for an ordinary user too", async () => {
    const workspace = batchWorkspace();
    const model = shellScript(workspace, "work", "echo new > new.txt");
    const setup = "mkdir -p shut/deep; touch shut/deep/f; chmod 555 shut/deep shut";
    writeTasks(workspace, [{ id: "one", prompt: "Do it.", permission_mode: "auto", setup, ...model }]);
    const asRoot = process.getuid?.() === 0;
    if (asRoot) execFileSync("chown", ["-R", "65534:65534", join(workspace.cwd, "..")]);
    const user = asRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"];
    const [command = "", ...rest] = [
      ...user,
      process.execPath,
      entry,
      "batch",
      "tasks.jsonl",
      "--out",
      "out",
    ];
    execFileSync(command, rest, { cwd: workspace.cwd, env: workspace.env, stdio: "ignore" });
    expect(readdirSync(join(workspace.cwd, "out/tasks/one/run-1")).sort()).toEqual([
      "patch.diff",
      "session",
      "setup.txt",
      "stderr.txt",
      "stream.jsonl",
    ]);
  });

  test("what a set-up makes is there, and not in the patch", async () => {
    const workspace = batchWorkspace();
    await work(workspace, { repo: "project", setup: "echo made > made.txt" }, "cat made.txt > copy.txt");
    expect(results(workspace)[0]?.changed_files).toEqual(["copy.txt"]);
    expect(patchOf(workspace, "one")).toContain("+made");
  });
});
