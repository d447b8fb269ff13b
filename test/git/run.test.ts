/** The one runner of git in hostile repositories: what they name does not run, and git gets no secret. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openTree, type TreeChange } from "../../src/git/frozen-tree.ts";
import { listFiles, listIgnoredFolders } from "../../src/git/list-files.ts";
import { gitIn } from "../../src/git/run.ts";
import { gitFolderOf } from "../../src/git/work-tree.ts";
import { type HostileRepository, hostileRepository } from "../support/hostile-repository.ts";

let root: string;
let work: string;
let hostile: HostileRepository;
const env = () => ({ PATH: process.env.PATH ?? "", HOME: root, GIT_CONFIG_NOSYSTEM: "1" });

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-run-")));
  work = join(root, "work");
  hostile = hostileRepository(work, root);
  const made = root;
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
});

/** Freezes, changes, freezes, compares and puts back, as `fix` and `batch` do. */
async function treeWork(): Promise<{ patch: string; warnings: string[] }> {
  const warnings: string[] = [];
  const tree = await openTree(work, env(), (text) => warnings.push(text));
  try {
    const before = await tree.take();
    hostile.write("a.txt", "three\n");
    hostile.write("b.txt", "new\n");
    const after = await tree.take();
    const patch = await tree.patch(before, after);
    await tree.changes(before, after);
    await tree.git(["--literal-pathspecs", "reset", "--quiet", "--", "a.txt"]);
    await tree.restore(before, ["a.txt", "b.txt"]);
    return { patch, warnings };
  } finally {
    tree.close();
  }
}

describe("what a repository names is not run when its files are frozen, compared and put back", () => {
  test.each<[string, (program: string) => string]>([
    ["a filter that cleans", (program) => `[filter "x"]\n\tclean = ${program}\n\trequired\n`],
    ["a filter that smudges", (program) => `[filter "x"]\n\tsmudge = ${program}\n`],
    ["a filter that is a process", (program) => `[filter "x"]\n\tprocess = ${program}\n\trequired = true\n`],
    ["a monitor", (program) => `[core]\n\tfsmonitor = ${program}\n`],
    ["a text conversion", (program) => `[diff "x"]\n\ttextconv = ${program}\n`],
    [
      "a diff of its own",
      (program) => `[diff "x"]\n\tcommand = ${program}\n[diff]\n\texternal = ${program}\n`,
    ],
    ["a pager and an editor", (program) => `[core]\n\tpager = ${program}\n\teditor = ${program}\n`],
    ["a signer", (program) => `[commit]\n\tgpgSign\n[gpg]\n\tprogram = ${program}\n`],
    [
      "ssh, and a credential helper",
      (program) => `[core]\n\tsshCommand = ${program}\n[credential]\n\thelper = ${program}\n`,
    ],
    ["references of alternates", (program) => `[core]\n\talternateRefsCommand = ${program}\n`],
    ["an alias of a command", (program) => `[alias]\n\tadd = !${program}\n\tls-files = !${program}\n`],
  ])("%s", async (_title, setting) => {
    hostile.write("a.txt", "two\n");
    hostile.configure(setting(hostile.program));
    const { patch } = await treeWork();
    expect(hostile.ran()).toBeUndefined();
    expect(patch).toContain("+three");
  });

  test("hooks, wherever core.hooksPath leads", async () => {
    for (const folder of [join(work, ".git/hooks"), join(work, "hooks")]) {
      mkdirSync(folder, { recursive: true });
      for (const name of ["post-index-change", "post-checkout", "reference-transaction", "pre-commit"])
        symlinkSync(hostile.program, join(folder, name));
    }
    hostile.configure("[core]\n\thooksPath = hooks\n");
    await treeWork();
    expect(hostile.ran()).toBeUndefined();
  });

  test("filters in a file that is included, and with names that need quotes", async () => {
    writeFileSync(join(root, "more"), `[filter "a=b \\"c\\" .d"]\n\tclean = ${hostile.program}\n`);
    hostile.configure(
      `[include]\n\tpath = ${join(root, "more")}\n[filter "x"]\n\tclean = ${hostile.program}\n`,
    );
    hostile.write(".git/info/attributes", '"b.txt" filter=x\n');
    const { warnings } = await treeWork();
    expect(hostile.ran()).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('("a=b \\"c\\" .d", "x")')]);
  });

  test("an include that cannot be read is refused", async () => {
    mkdirSync(join(root, "more"));
    hostile.configure(`[include]\n\tpath = ${join(root, "more")}\n`);
    await expect(treeWork()).rejects.toThrow(/unable to access .*more/);
  });

  test("filters that appear while it is at work", async () => {
    const tree = await openTree(work, env(), () => {});
    const before = await tree.take();
    hostile.configure(`[filter "x"]\n\tclean = ${hostile.program}\n\tsmudge = ${hostile.program}\n`);
    hostile.write("a.txt", "three\n");
    await tree.take();
    await tree.restore(before, ["a.txt"]);
    tree.close();
    expect(hostile.ran()).toBeUndefined();
  });

  test("filters and monitors of a submodule", async () => {
    const inner = hostileRepository(join(work, "sub"), root);
    hostile.git("-c", "advice.addEmbeddedRepo=false", "add", "sub");
    hostile.git("commit", "-q", "-m", "sub");
    hostile.configure('[submodule "sub"]\n\turl = ./sub\n\tignore = none\n');
    hostile.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
    inner.configure(`[filter "x"]\n\tclean = ${inner.program}\n[core]\n\tfsmonitor = ${inner.program}\n`);
    inner.write("a.txt", "two\n");
    await treeWork();
    expect(hostile.ran()).toBeUndefined();
    hostile.git("status");
    expect(hostile.ran()).toBeDefined();
  });
});

test("the configuration is listed once for each state, and all changed files are read by two commands", async () => {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const log = join(root, "commands");
  mkdirSync(join(root, "bin"));
  const program = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${log}'\nexec '${real}' "$@"\n`;
  writeFileSync(join(root, "bin/git"), program, { mode: 0o755 });
  const tree = await openTree(work, { ...env(), PATH: `${join(root, "bin")}:${env().PATH}` }, () => {});
  onTestFinished(() => tree.close());
  const commands = async (work: () => Promise<unknown>) => {
    writeFileSync(log, "");
    await work();
    const lines = readFileSync(log, "utf8").trim().split("\n");
    return lines.map((line) =>
      line
        .replaceAll(/-c \S+ /g, "")
        .split(" ")
        .slice(0, 2)
        .join(" "),
    );
  };
  const before = await tree.take();
  for (const name of ["a.txt", "b.txt", "é\n.txt"]) hostile.write(name, `${name}\n`);
  hostile.write("c.bin", "\0");
  let after = "";
  const taking = await commands(async () => {
    after = await tree.take();
  });
  expect(taking).toEqual(["ls-files -z", "config --list", "ls-files -z", "update-index -z", "write-tree"]);
  let changes: TreeChange[] = [];
  const comparing = await commands(async () => {
    changes = await tree.changes(before, after);
  });
  expect(comparing).toEqual(["diff-tree -r", "cat-file --batch-check", "cat-file --batch"]);
  expect(changes).toEqual([
    { path: "a.txt", status: "M", before: "one\n", after: "a.txt\n" },
    { path: "b.txt", status: "A", before: undefined, after: "b.txt\n" },
    { path: "c.bin", status: "A", before: undefined, after: undefined },
    { path: "é\n.txt", status: "A", before: undefined, after: "é\n.txt\n" },
  ]);
});

test("files are listed without running anything", async () => {
  hostile.configure(
    `[core]\n\tfsmonitor = ${hostile.program}\n\thooksPath = ${root}\n[filter "x"]\n\tclean = ${hostile.program}\n`,
  );
  symlinkSync(hostile.program, join(root, "post-index-change"));
  hostile.write(".gitignore", "out/\n");
  hostile.write("out/x", "");
  hostile.write("a.txt", "two\n");
  expect((await listFiles(work, env()))?.sort()).toEqual([".gitattributes", ".gitignore", "a.txt"]);
  expect(await listIgnoredFolders(work, env())).toEqual(["out"]);
  expect(await listFiles(root, env())).toBeUndefined();
  expect(hostile.ran()).toBeUndefined();
});

test("a fetch is refused where the configuration is more than git init writes", async () => {
  hostile.configure(`[remote "origin"]\n\turl = ${work}\n\tuploadpack = ${hostile.program}\n`);
  const git = gitIn(work, env());
  await expect(git(["fetch", "--quiet", "origin"])).rejects.toThrow(
    "its configuration sets remote.origin.url",
  );
  expect(hostile.ran()).toBeUndefined();
});

test("objects that a repository lacks are not fetched by the programs it names, neither here nor from it", async () => {
  hostile.git("repack", "-q", "-a", "-d");
  const blob = hostile.git("rev-parse", "HEAD:a.txt").trim();
  const pack = execFileSync("sh", ["-c", "ls .git/objects/pack/*.pack"], {
    cwd: work,
    encoding: "utf8",
  }).trim();
  hostile.git("rev-parse", "HEAD");
  // A promisor pack without its blob.
  execFileSync(
    "sh",
    [
      "-c",
      `git rev-list --objects --filter=blob:none HEAD | cut -d' ' -f1 | git pack-objects -q "$PWD/thin" >name && rm -f ${pack} ${pack.replace(/pack$/, "idx")} && mv thin-* .git/objects/pack/ && touch .git/objects/pack/thin-$(cat name).promisor && rm -f name`,
    ],
    { cwd: work },
  );
  hostile.configure(
    `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ${work}\n\tpromisor = true\n\tuploadpack = ${hostile.program}\n`,
  );
  await expect(gitIn(work, env())(["cat-file", "blob", blob])).rejects.toThrow();
  expect(hostile.ran()).toBeUndefined();
  const other = join(root, "other");
  mkdirSync(other);
  const git = gitIn(other, env());
  await git(["init", "--quiet", "--template="]);
  await git(["fetch", "--quiet", "--no-tags", "--", work, "HEAD"]).catch(() => {});
  expect(hostile.ran()).toBeUndefined();
});

describe("pointers of a working tree", () => {
  test("are followed when they lead back", () => {
    hostile.git("worktree", "add", "-q", "../second");
    expect(gitFolderOf(join(root, "second"))).toBe(join(work, ".git/worktrees/second"));
    expect(gitFolderOf(work)).toBe(join(work, ".git"));
    expect(gitFolderOf(root)).toBeUndefined();
  });

  test("are refused when they lead to a repository that knows nothing of the folder", () => {
    hostile.git("worktree", "add", "-q", "../second");
    const evil = join(root, "evil");
    mkdirSync(evil);
    writeFileSync(join(evil, ".git"), `gitdir: ${join(work, ".git/worktrees/second")}\n`);
    expect(() => gitFolderOf(evil)).toThrow("does not know this folder");
    const fake = hostileRepository(join(root, "fake"), root);
    fake.write(".git/commondir", join(work, ".git"));
    expect(() => gitFolderOf(join(root, "fake"))).toThrow("does not know this folder");
  });

  test("core.worktree of the configuration leads nowhere else", async () => {
    mkdirSync(join(root, "victim"));
    writeFileSync(join(root, "victim", "a.txt"), "mine\n");
    hostile.configure(`[core]\n\tworktree = ${join(root, "victim")}\n`);
    const { patch } = await treeWork();
    expect(patch).toContain("+three");
    expect(execFileSync("cat", [join(root, "victim", "a.txt")], { encoding: "utf8" })).toBe("mine\n");
  });
});

test("git gets no secret, and none of the variables that lead to another repository", async () => {
  const bin = join(root, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\nenv >'${join(root, "env")}'\n`);
  chmodSync(join(bin, "git"), 0o755);
  const hostile = {
    PATH: `${bin}:${process.env.PATH}`,
    STRIPE_KEY: "canary",
    DATABASE_URL: "postgres://a:canary@b/c",
    GIT_DIR: "/canary",
    GIT_INDEX_FILE: "/canary",
    GIT_EXTERNAL_DIFF: "canary",
  };
  await gitIn(root, hostile)(["rev-parse"]);
  const seen = execFileSync("cat", [join(root, "env")], { encoding: "utf8" });
  expect(seen).not.toContain("canary");
  expect(seen).toContain("GIT_TERMINAL_PROMPT=0");
});
