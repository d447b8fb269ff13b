/**
 * Freezes the project as git sees it, compares such states, and restores files from them. Never touches the user's
 * index.
 */

import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanLine } from "../core/text/clean-text.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { insideFolder } from "../disk/pinned-folder.ts";
import { errorCode } from "../disk/real-path.ts";
import { replaceWith } from "../disk/replace-file.ts";
import { type Git, gitAtOnce, gitIn, type Repository } from "./run.ts";
import { strayKind } from "./stray-files.ts";
import { gitFolderOf } from "./work-tree.ts";

/** A file before and after; undefined where it does not exist or is not text. */
export type TreeChange = {
  path: string;
  status: string;
  before?: string | undefined;
  after?: string | undefined;
};

export type Tree = Awaited<ReturnType<typeof openTree>>;

/** Files that test runs leave behind; not part of a repair unless the project tracks them. */
const byproducts =
  "node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .venv venv .nyc_output coverage .coverage .cache .gradle .DS_Store *.pyc *.class".split(
    " ",
  );
const asPatch = "diff-tree -r -p --binary --no-renames --no-ext-diff --no-textconv".split(" ");
/** Longer files are compared, but their text is not read. */
const mostTextBytes = 2 * 1024 * 1024;

/**
 * Opens a tree. `env`: the environment for git. `warn`: called once for each file left out of the states. A folder that
 * is not a repository gets a shadow one, outside of it. `kept`: the folder that holds the states, which stays, and the time
 * when it was opened first, in milliseconds since 1970; by default it is temporary. Throws `GitError`.
 */
export async function openTree(
  root: string,
  env: Record<string, string>,
  warn: (text: string) => void,
  kept?: { folder: string; opened: number },
) {
  const opened = kept?.opened ?? Date.now();
  const { folder, own, repository, isRepository } = await statesOf(root, kept?.folder, env);
  const git = gitIn(root, env, { repository });
  const bytes = gitIn(root, env, { repository, encoding: "latin1" });
  const warned = new Set<string>();
  const warnOnce = (text: string): void => {
    if (!warned.has(text)) warn(text);
    warned.add(text);
  };
  return {
    root,
    isRepository,
    /** Runs git on the repository as it is, with its own index and objects. */
    git: gitIn(root, env, { repository: own, encoding: "latin1" }),
    /** Runs git with an index of its own, empty at first. */
    beside: gitIn(root, env, {
      repository: { ...own, GIT_INDEX_FILE: join(folder, "commit-index") },
      encoding: "latin1",
    }),
    /** Returns the paths that go through a filter named by the repository's own configuration, which was not run. */
    async filtered(paths: readonly string[]): Promise<string[]> {
      const { git, filters } = await gitAtOnce(root, env, { repository });
      return throughFilters(git, filters, paths);
    },
    /** Freezes the present files; returns the id of that state. */
    async take(): Promise<string> {
      const fresh = await newFiles(bytes);
      // Listed after the search, which may take long: a job may change the configuration meanwhile.
      const { git, filters } = await gitAtOnce(root, env, { repository, encoding: "latin1" });
      if (filters.length > 0) warnOnce(filtersText(filters));
      const taken = [...(await changedFiles(git)), ...fresh].filter((path) => {
        const what = strayKind(root, path, opened);
        if (what) warnOnce(`${shown(path)} is not part of the patch: ${what} that appeared while it ran`);
        return what === undefined;
      });
      // `git add` would start git in submodules, whose configuration is their own.
      await git(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], taken.join("\0"));
      return (await git(["write-tree"])).trim();
    },
    changes: (from: string, to: string) => changesBetween({ git, bytes }, from, to),
    /** Returns the patch as bytes, one character each: files may be in any encoding. */
    patch: (from: string, to: string) => bytes([...asPatch, from, to]),
    text: (tree: string, path: string) => textIn(git, tree, path),
    /** Restores these files to that state; files that did not exist then are removed. */
    async restore(from: string, paths: readonly string[]): Promise<void> {
      const index = { ...repository, GIT_INDEX_FILE: join(folder, "restore-index") };
      const { git } = await gitAtOnce(root, env, { repository: index });
      await restore(git, { root, beside: join(folder, "restored") }, from, paths);
    },
    close: () => (kept ? undefined : rmSync(folder, { recursive: true, force: true })),
  };
}

/** Returns the repository of the project, and the one that holds its states: a shadow where there was none. */
async function statesOf(root: string, kept: string | undefined, env: Record<string, string>) {
  const folder = kept ?? mkdtempSync(join(tmpdir(), "sawtooth-tree-"));
  makeFolders(folder, 0o700);
  const gitFolder = existsSync(join(folder, "git")) ? undefined : gitFolderOf(root);
  const own: Repository = gitFolder ? { GIT_DIR: gitFolder, GIT_WORK_TREE: root } : {};
  const repository = gitFolder
    ? await besideRepository(root, folder, { env, own })
    : await shadow(root, folder, env);
  return { folder, own, repository, isRepository: gitFolder !== undefined };
}

async function changesBetween(
  { git, bytes }: { git: Git; bytes: Git },
  from: string,
  to: string,
): Promise<TreeChange[]> {
  const fields = (await git(["diff-tree", "-r", "-z", "--no-renames", "--raw", from, to])).split("\0");
  const found: { path: string; status: string; before: string; after: string }[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [meta = "", path = ""] = [fields[index], fields[index + 1]];
    const [, , before = "", after = "", status = ""] = meta.split(" ");
    found.push({ path, status, before, after });
  }
  const texts = await textsOf(
    bytes,
    found.flatMap(({ before, after }) => [before, after]),
  );
  return found.map(({ path, status, before, after }) => ({
    ...{ path, status },
    ...{ before: texts.get(before), after: texts.get(after) },
  }));
}

/** Returns the texts of the objects that are files, not very long and text. `bytes`: latin1. */
async function textsOf(bytes: Git, ids: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const wanted = [...new Set(ids)].join("\n");
  if (wanted === "") return texts;
  // No file is "0000": what does not exist is said to be missing, as is the commit of a submodule.
  const listed = (await bytes(["cat-file", "--batch-check"], `${wanted}\n`)).split("\n");
  const short = listed.flatMap((line) => {
    const [id = "", type, size] = line.split(" ");
    return type === "blob" && Number(size) <= mostTextBytes ? [{ id, size: Number(size) }] : [];
  });
  if (short.length === 0) return texts;
  const whole = await bytes(["cat-file", "--batch"], `${short.map(({ id }) => id).join("\n")}\n`);
  let at = 0;
  for (const { id, size } of short) {
    const start = whole.indexOf("\n", at) + 1;
    const text = Buffer.from(whole.slice(start, start + size), "latin1").toString("utf8");
    if (!text.includes("\0")) texts.set(id, text);
    at = start + size + 1;
  }
  return texts;
}

/**
 * Git writes the files to a folder beside, and from there they are put in place: in the project itself a job may swap a
 * folder for a link between two steps of git. `git` has an index of its own.
 */
async function restore(
  git: Git,
  { root, beside }: { root: string; beside: string },
  from: string,
  paths: readonly string[],
): Promise<void> {
  const known = new Set((await git(["ls-tree", "-r", "-z", "--name-only", from])).split("\0"));
  const [back, gone] = [paths.filter((path) => known.has(path)), paths.filter((path) => !known.has(path))];
  for (const path of gone) remove(join(root, path));
  if (back.length === 0) return;
  await git(["read-tree", from]);
  try {
    await git(["checkout-index", "--force", "-z", "--stdin", `--prefix=${beside}/`], back.join("\0"));
    for (const path of back) {
      removeLinks(root, path);
      putInPlace(join(beside, path), join(root, path));
    }
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

function remove(path: string): void {
  try {
    insideFolder(path, ({ at }, name) => rmSync(at(name), { recursive: true, force: true }));
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) throw error;
  }
}

/** Removes links that stand where folders were, as git does. */
function removeLinks(root: string, path: string): void {
  const folders = path.split("/").slice(0, -1);
  for (const [index] of folders.entries()) {
    const folder = join(root, ...folders.slice(0, index + 1));
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    insideFolder(folder, ({ at }, name) => unlinkSync(at(name)));
  }
}

/** Moves a file or a link to `path`, whatever is there now. */
function putInPlace(from: string, path: string): void {
  const made = lstatSync(from, { throwIfNoEntry: false });
  // Of a submodule git makes an empty folder.
  if (!made || made.isDirectory()) return;
  insideFolder(
    path,
    ({ at }, name) => {
      if (lstatSync(at(name), { throwIfNoEntry: false })?.isDirectory())
        rmSync(at(name), { recursive: true });
      replaceWith(at(name), (temporary) => {
        if (made.isSymbolicLink()) symlinkSync(readlinkSync(from), temporary);
        else copyFileSync(from, temporary, constants.COPYFILE_EXCL);
      });
    },
    { make: true },
  );
}

async function throughFilters(git: Git, filters: readonly string[], paths: readonly string[]) {
  if (filters.length === 0) return [];
  const fields = (await git(["check-attr", "-z", "--stdin", "filter"], paths.join("\0"))).split("\0");
  return fields.filter((_, index) => index % 3 === 0 && filters.includes(fields[index + 2] ?? ""));
}

function filtersText(names: readonly string[]): string {
  const list = names.map((name) => JSON.stringify(name)).join(", ");
  return `filters that .git/config names were not run (${list}): their files are compared as they lie in the folder`;
}

/** Shows the bytes of a name as text of one line. */
function shown(path: string): string {
  return cleanLine(
    Buffer.from(path, "latin1")
      .toString("utf8")
      .replace(/\p{Cc}/gu, "?"),
  );
}

/** Returns tracked files that differ from the index. Bytes, one character each. */
async function changedFiles(git: Git): Promise<string[]> {
  return namesIn(await git(["ls-files", "-z", "--modified", "--deleted", "--deduplicate"]));
}

/** Returns files that git does not track, without by-products. Bytes, one character each. */
async function newFiles(git: Git): Promise<string[]> {
  const excluded = byproducts.flatMap((name) => [
    `:(exclude,glob)**/${name}`,
    `:(exclude,glob)**/${name}/**`,
  ]);
  return namesIn(await git(["ls-files", "-z", "--others", "--exclude-standard", "--", ".", ...excluded]));
}

/** Git lists a repository in the folder with a slash at its end. */
function namesIn(listed: string): string[] {
  const names = listed.split("\0").map((path) => path.replace(/\/$/, ""));
  return names.filter((path) => path !== "");
}

/** Creates an index of our own from the user's, so that unchanged files need not be read; new objects stay outside. */
async function besideRepository(
  root: string,
  folder: string,
  { env, own }: { env: Record<string, string>; own: Repository },
): Promise<Repository> {
  const git = gitIn(root, env, { repository: own });
  const pathOf = async (name: string) => resolve(root, (await git(["rev-parse", "--git-path", name])).trim());
  const [index, objects, copy] = [await pathOf("index"), await pathOf("objects"), join(folder, "index")];
  // One that is there holds a state of before.
  if (existsSync(index) && !existsSync(copy)) {
    copyFileSync(index, copy);
    // By the index's time git knows which entries it must check again.
    const { atime, mtime } = statSync(index);
    utimesSync(copy, atime, mtime);
  }
  mkdirSync(join(folder, "objects"), { recursive: true });
  return {
    ...own,
    GIT_INDEX_FILE: copy,
    GIT_OBJECT_DIRECTORY: join(folder, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
  };
}

async function shadow(root: string, folder: string, env: Record<string, string>): Promise<Repository> {
  const repository = { GIT_DIR: join(folder, "git"), GIT_WORK_TREE: root };
  await gitIn(root, env, { repository })(["init", "--quiet"]);
  writeFileSync(join(folder, "git", "info", "exclude"), `${byproducts.join("\n")}\n`);
  return repository;
}

/** Returns the text of a file in a state; undefined when it is missing, not text, or very long. */
async function textIn(git: Git, tree: string, path: string): Promise<string | undefined> {
  const entry = await git(["--literal-pathspecs", "ls-tree", "-l", "-z", tree, "--", path]);
  const [, hash, size] = /^\d+ blob (\w+)\s+(\d+)\t/.exec(entry) ?? [];
  if (hash === undefined || Number(size) > mostTextBytes) return undefined;
  const text = await git(["cat-file", "blob", hash]);
  return text.includes("\0") ? undefined : text;
}
