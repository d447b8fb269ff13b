/**
 * Repairs and batches in repositories that name programs, and crashes while they run: nothing runs, nothing stays in a
 * patch.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hostileRepository } from "../../support/hostile-repository.ts";
import { bash } from "../../support/served.ts";
import {
  auto,
  batchWorkspace,
  patchOf,
  results,
  run,
  shellScript,
  write,
  writeTasks,
} from "../batch/batch-workspace.ts";
import { fix, git, read, repairing, setUp, small, smallCheck } from "./fix-workspace.ts";

/** A core dump's head: ELF of 64 bits, little-endian, of the kind core. */
const core =
  "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\4\\0\\076\\0' > core.77 && head -c 9000 /dev/zero >> core.77";
const garbled = "touch \"$(printf 'a\\001\\037')\" \"$(printf 'b\\377')\"";

function plantFilter(cwd: string, outside: string): ReturnType<typeof hostileRepository> {
  const hostile = hostileRepository(join(outside, "elsewhere"), outside);
  const { program } = hostile;
  writeFileSync(
    join(cwd, ".git/config"),
    `[filter "x"]\n\tclean = ${program}\n\tsmudge = ${program}\n\trequired\n[core]\n\tfsmonitor = ${program}\n`,
    { flag: "a" },
  );
  return hostile;
}

const files = { ...small, ".gitattributes": "*.txt filter=x\n" };

test("S54 git-filters: fix runs no filter of the repository, says so, and gives a patch", async () => {
  const { workspace } = await setUp(repairing, { files });
  const hostile = plantFilter(workspace.cwd, workspace.home);
  const { code, stderr, result } = await fix(workspace, ["--check", smallCheck, "--patch", "out.diff"]);
  expect(hostile.ran()).toBeUndefined();
  expect(code).toBe(0);
  expect(result.fix.changed).toEqual(["value.txt"]);
  expect(read(workspace, "out.diff")).toContain("+good");
  expect(stderr).toContain('filters that .git/config names were not run ("x")');
});

test("fix commits no file that the filter of the repository would have changed", async () => {
  const { workspace } = await setUp(repairing, { files });
  const hostile = plantFilter(workspace.cwd, workspace.home);
  const before = git(workspace.cwd, "rev-parse", "HEAD");
  const { code, stderr } = await fix(workspace, ["--check", smallCheck, "--commit"]);
  expect(code).toBe(2);
  expect(stderr).toContain("no commit was made: value.txt goes through a filter");
  expect(hostile.ran()).toBeUndefined();
  expect(git(workspace.cwd, "rev-parse", "HEAD")).toBe(before);
  expect(read(workspace, "value.txt")).toBe("good\n");
});

test("a core dump and empty files with garbled names are no part of a repair, and are told", async () => {
  const turns = [{ calls: [bash(`${core}; ${garbled}; echo good > value.txt`)] }, { text: "Done." }];
  const { workspace } = await setUp(turns);
  const { code, stderr, result } = await fix(workspace, ["--check", smallCheck, "--patch", "out.diff"]);
  expect(code).toBe(0);
  expect(result.fix.changed).toEqual(["value.txt"]);
  expect(read(workspace, "out.diff")).not.toContain("core");
  expect(stderr).toContain("core.77 is not part of the patch: a core dump that appeared while it ran");
  expect(stderr).toContain("a?? is not part of the patch: an empty file with a garbled name");
});

test("a core dump of the checks that a repair takes away is no part of it either, and an old one stays", async () => {
  const dumping = `${core}; [ "$(cat value.txt)" = good ]`;
  const turns = [{ calls: [bash("rm -f core.77; echo good > value.txt")] }, { text: "Done." }];
  const { workspace } = await setUp(turns);
  writeFileSync(join(workspace.cwd, "core"), "the core of the matter\n");
  const { code, result } = await fix(workspace, ["--check", dumping, "--patch", "out.diff"]);
  expect(code).toBe(0);
  expect(result.fix.changed).toEqual(["value.txt"]);
  expect(readFileSync(join(workspace.cwd, "core"), "utf8")).toBe("the core of the matter\n");
});

test("S54 git-filters: batch runs no filter of a repository and keeps crashes out of patches", async () => {
  const workspace = batchWorkspace({ "a.txt": "one\n", ".gitattributes": "*.txt filter=x\n" });
  const project = join(workspace.cwd, "project");
  const hostile = plantFilter(project, workspace.home);
  const work = `${core}; ${garbled}; echo two > a.txt`;
  writeTasks(workspace, [
    { id: "clean", ...auto, ...shellScript(workspace, "m", work) },
    { id: "ref", ...auto, ref: "HEAD", ...shellScript(workspace, "n", "echo two > a.txt") },
  ]);
  const { code, stderr } = await run(workspace);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(hostile.ran()).toBeUndefined();
  expect(results(workspace).map(({ id, changed_files }) => [id, changed_files])).toEqual(
    expect.arrayContaining([
      ["clean", ["a.txt"]],
      ["ref", ["a.txt"]],
    ]),
  );
  expect(patchOf(workspace, "clean")).toContain("+two");
  expect(stderr).toContain("clean: core.77 is not part of the patch");
});

test("batch takes a bare repository that a task names", async () => {
  const workspace = batchWorkspace();
  git(workspace.cwd, "clone", "--quiet", "--bare", "project", "bare.git");
  mkdirSync(join(workspace.cwd, "bare.git", "hooks"), { recursive: true });
  write(workspace, "x", "");
  writeTasks(workspace, [
    { id: "b", ...auto, repo: "bare.git", ...shellScript(workspace, "m", "echo two > a.txt") },
  ]);
  const { code, stderr } = await run(workspace);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(patchOf(workspace, "b")).toContain("+two");
});
