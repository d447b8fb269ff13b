/**
 * Repairs and batches in repositories that name programs, and crashes while they run: nothing runs, nothing stays in a
 * patch.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedRepository } from "../../support/planted.ts";
import { bash } from "../../support/served.ts";
import {
  auto,
  batchPlace,
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

function plantFilter(cwd: string, outside: string): ReturnType<typeof plantedRepository> {
  const planted = plantedRepository(join(outside, "elsewhere"), outside);
  const { program } = planted;
  writeFileSync(
    join(cwd, ".git/config"),
    `[filter "x"]\n\tclean = ${program}\n\tsmudge = ${program}\n\trequired\n[core]\n\tfsmonitor = ${program}\n`,
    { flag: "a" },
  );
  return planted;
}

const files = { ...small, ".gitattributes": "*.txt filter=x\n" };

test("S54 git-filters: fix runs no filter of the repository, says so, and gives a patch", async () => {
  const { place } = await setUp(repairing, { files });
  const planted = plantFilter(place.cwd, place.home);
  const { code, stderr, result } = await fix(place, ["--check", smallCheck, "--patch", "out.diff"]);
  expect(planted.ran()).toBeUndefined();
  expect(code).toBe(0);
  expect(result.fix.changed).toEqual(["value.txt"]);
  expect(read(place, "out.diff")).toContain("+good");
  expect(stderr).toContain('filters that .git/config names were not run ("x")');
}, 180_000);

test("fix commits no file that the filter of the repository would have changed", async () => {
  const { place } = await setUp(repairing, { files });
  const planted = plantFilter(place.cwd, place.home);
  const before = git(place.cwd, "rev-parse", "HEAD");
  await expect(fix(place, ["--check", smallCheck, "--commit"])).rejects.toThrow(
    "no commit was made: value.txt goes through a filter",
  );
  expect(planted.ran()).toBeUndefined();
  expect(git(place.cwd, "rev-parse", "HEAD")).toBe(before);
  expect(read(place, "value.txt")).toBe("good\n");
}, 180_000);

test("a core dump and empty files with garbled names are no part of a repair, and are told", async () => {
  const turns = [{ calls: [bash(`${core}; ${garbled}; echo good > value.txt`)] }, { text: "Done." }];
  const { place } = await setUp(turns);
  const { code, stderr, result } = await fix(place, ["--check", smallCheck, "--patch", "out.diff"]);
  expect(code).toBe(0);
  expect(result.fix.changed).toEqual(["value.txt"]);
  expect(read(place, "out.diff")).not.toContain("core");
  expect(stderr).toContain("core.77 is not part of the patch: a core dump that appeared while it ran");
  expect(stderr).toContain("a?? is not part of the patch: an empty file with a garbled name");
}, 180_000);

test("a core dump of the checks that a repair takes away is no part of it either, and an old one stays", async () => {
  const dumping = `${core}; [ "$(cat value.txt)" = good ]`;
  const turns = [{ calls: [bash("rm -f core.77; echo good > value.txt")] }, { text: "Done." }];
  const { place } = await setUp(turns);
  writeFileSync(join(place.cwd, "core"), "the core of the matter\n");
  const { code, result } = await fix(place, ["--check", dumping, "--patch", "out.diff"]);
  expect(code).toBe(0);
  expect(result.fix.changed).toEqual(["value.txt"]);
  expect(readFileSync(join(place.cwd, "core"), "utf8")).toBe("the core of the matter\n");
}, 180_000);

test("S54 git-filters: batch runs no filter of a repository and keeps crashes out of patches", async () => {
  const place = batchPlace({ "a.txt": "one\n", ".gitattributes": "*.txt filter=x\n" });
  const project = join(place.cwd, "project");
  const planted = plantFilter(project, place.home);
  const work = `${core}; ${garbled}; echo two > a.txt`;
  writeTasks(place, [
    { id: "clean", ...auto, ...shellScript(place, "m", work) },
    { id: "ref", ...auto, ref: "HEAD", ...shellScript(place, "n", "echo two > a.txt") },
  ]);
  const { code, stderr } = await run(place);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(planted.ran()).toBeUndefined();
  expect(results(place).map(({ id, changed_files }) => [id, changed_files])).toEqual(
    expect.arrayContaining([
      ["clean", ["a.txt"]],
      ["ref", ["a.txt"]],
    ]),
  );
  expect(patchOf(place, "clean")).toContain("+two");
  expect(stderr).toContain("clean: core.77 is not part of the patch");
}, 90_000);

test("batch takes a bare repository that a task names", async () => {
  const place = batchPlace();
  git(place.cwd, "clone", "--quiet", "--bare", "project", "bare.git");
  mkdirSync(join(place.cwd, "bare.git", "hooks"), { recursive: true });
  write(place, "x", "");
  writeTasks(place, [{ id: "b", ...auto, repo: "bare.git", ...shellScript(place, "m", "echo two > a.txt") }]);
  const { code, stderr } = await run(place);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(patchOf(place, "b")).toContain("+two");
}, 180_000);
