/** The project as git sees it, frozen at moments: what changed between them, and the way back. Touches no index of the user. */

import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Change } from "./fix-guard.ts";

export type Tree = Awaited<ReturnType<typeof openTree>>;

/** A git command that failed; the message is git's own. */
export class GitError extends Error {
  override readonly name = "GitError";
}

/** Nothing that a repository configures may run: no hooks, no monitors, no signing, no pagers. */
const calm =
  "safe.directory=* core.fsmonitor=false core.hooksPath=/dev/null core.quotePath=false commit.gpgSign=false gc.auto=0 advice.addEmbeddedRepo=false";
/** What runs of tests leave behind; not part of a repair unless the project tracks it. */
const byproducts =
  "node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .venv venv .nyc_output coverage .coverage .cache .gradle .DS_Store *.pyc *.class".split(
    " ",
  );
/** Longer files are compared, but their text is not looked into. */
const mostTextBytes = 2 * 1024 * 1024;

export type Git = (words: readonly string[], input?: string) => Promise<string>;

/** `env`: what git gets of the environment. A folder that is no repository gets a shadow one, outside of it. */
export async function openTree(root: string, env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-tree-"));
  const isRepository = existsSync(join(root, ".git"));
  const place = isRepository ? await besideRepository(root, folder, env) : await shadow(root, folder, env);
  const git = gitIn(root, { ...env, ...place });
  const bytes = gitIn(root, { ...env, ...place }, "latin1");
  const excluded = byproducts.flatMap((name) => [
    `:(exclude,glob)**/${name}`,
    `:(exclude,glob)**/${name}/**`,
  ]);
  return {
    root,
    isRepository,
    /** git over the repository as it is, with its own index and objects. */
    git: gitIn(root, env, "latin1"),
    /** The same with an index of its own, empty at first. */
    beside: gitIn(root, { ...env, GIT_INDEX_FILE: join(folder, "commit-index") }, "latin1"),
    /** Freezes the files as they are now; returns the id of that state. */
    async take(): Promise<string> {
      await git(["add", "--update", "--", "."]);
      await git(["add", "--all", "--", ".", ...excluded]);
      return (await git(["write-tree"])).trim();
    },
    async changes(from: string, to: string): Promise<Change[]> {
      const fields = (await git(["diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to])).split(
        "\0",
      );
      const changes: Change[] = [];
      for (let index = 0; index + 1 < fields.length; index += 2) {
        const [status = "", path = ""] = [fields[index], fields[index + 1]];
        const [before, after] = [await textIn(git, from, path), await textIn(git, to, path)];
        changes.push({ path, status, before, after });
      }
      return changes;
    },
    /** As bytes, one character each: files may be in any encoding. */
    patch: (from: string, to: string) =>
      bytes([
        "diff-tree",
        "-r",
        "-p",
        "--binary",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        from,
        to,
      ]),
    text: (tree: string, path: string) => textIn(git, tree, path),
    /** Puts these files back as they were; those that were not there go. */
    async restore(from: string, paths: readonly string[]): Promise<void> {
      const known = new Set((await git(["ls-tree", "-r", "-z", "--name-only", from])).split("\0"));
      for (const path of paths) {
        if (known.has(path)) await git(["--literal-pathspecs", "checkout", "--quiet", from, "--", path]);
        else rmSync(join(root, path), { recursive: true, force: true });
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** An index of our own, begun from the user's so that unchanged files need not be read; new objects stay outside. */
async function besideRepository(root: string, folder: string, env: Record<string, string>) {
  const git = gitIn(root, env);
  const pathOf = async (name: string) => resolve(root, (await git(["rev-parse", "--git-path", name])).trim());
  const [index, objects, copy] = [await pathOf("index"), await pathOf("objects"), join(folder, "index")];
  if (existsSync(index)) {
    copyFileSync(index, copy);
    // By its time git knows which entries it must look at again.
    const { atime, mtime } = statSync(index);
    utimesSync(copy, atime, mtime);
  }
  mkdirSync(join(folder, "objects"));
  return {
    GIT_INDEX_FILE: copy,
    GIT_OBJECT_DIRECTORY: join(folder, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
  };
}

async function shadow(root: string, folder: string, env: Record<string, string>) {
  const place = { GIT_DIR: join(folder, "git"), GIT_WORK_TREE: root };
  await gitIn(root, { ...env, ...place })(["init", "--quiet"]);
  writeFileSync(join(folder, "git", "info", "exclude"), `${byproducts.join("\n")}\n`);
  return place;
}

/** git in a folder, with nothing that the repository configures. Its calls throw `GitError`. */
export function gitIn(root: string, env: Record<string, string>, encoding: "utf8" | "latin1" = "utf8"): Git {
  const options = calm.split(" ").flatMap((option) => ["-c", option]);
  const maxBuffer = 512 * 1024 * 1024;
  const settings = { cwd: root, env: { ...env, GIT_OPTIONAL_LOCKS: "0" }, maxBuffer, encoding };
  return (words, input) =>
    new Promise((done, fail) => {
      const child = execFile("git", [...options, ...words], settings, (error, stdout, stderr) => {
        if (!error) done(stdout);
        else if ((error as NodeJS.ErrnoException).code === "ENOENT")
          fail(new GitError("git is not installed"));
        else fail(new GitError(`git ${words[0]}: ${stderr.trim() || error.message}`));
      });
      child.stdin?.on("error", () => {});
      child.stdin?.end(input, encoding);
    });
}

/** The text of a file in a state; undefined when it is not there, not text, or very long. */
async function textIn(git: Git, tree: string, path: string): Promise<string | undefined> {
  const entry = await git(["--literal-pathspecs", "ls-tree", "-l", "-z", tree, "--", path]);
  const [, hash, size] = /^\d+ blob (\w+)\s+(\d+)\t/.exec(entry) ?? [];
  if (hash === undefined || Number(size) > mostTextBytes) return undefined;
  const text = await git(["cat-file", "blob", hash]);
  return text.includes("\0") ? undefined : text;
}
