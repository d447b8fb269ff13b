/** `-w`: a run in a git worktree of its own, which stays when it changed something. */

import { createHash, randomBytes } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, relative } from "node:path";
import { folders } from "../config/folders.ts";
import { workspaceRoot } from "../config/instructions.ts";
import { plural } from "../context/report/amounts.ts";
import { UsageError } from "../core/errors.ts";
import { cleanLine } from "../core/text/clean-text.ts";
import {
  type LinkedTree,
  type OwnWork,
  openLinkedTree,
  ownWork,
  removeLinkedTree,
} from "../git/linked-tree.ts";
import { GitError } from "../git/run.ts";
import { firstTreeOf, gitFolderOf } from "../git/work-tree.ts";
import { writeError } from "./terminal-output.ts";

/** Git's rules for a name of a branch, and short enough for a folder. */
const allowedName = /^[a-z\d](?:[a-z\d_-]|\.(?=[a-z\d_-])){0,59}$/i;

/**
 * Runs in the worktree of this name, or in a new one when it is empty, and returns the exit code. The process works in
 * the worktree meanwhile. Throws `UsageError` when there can be none.
 */
export async function inWorktree(name: string, runIn: () => Promise<number>): Promise<number> {
  const before = process.cwd();
  const tree = await entered(name, before);
  try {
    return await runIn();
  } finally {
    process.chdir(before);
    await left(tree, basename(tree.folder)).catch((error: Error) =>
      say(`The worktree stays in ${tree.folder}: ${error.message}`),
    );
  }
}

async function entered(name: string, cwd: string): Promise<LinkedTree> {
  const word = name === "" ? randomBytes(3).toString("hex") : name;
  // A name that git takes as a lock, or that a branch cannot have.
  if (!allowedName.test(word) || word.endsWith(".lock"))
    throw new UsageError(
      `--worktree ${cleanLine(name)}: a name has letters, digits, ".", "_" and "-", and at most 60 of them. ` +
        'A prompt stands before the option: sawtooth "fix the tests" -w',
    );
  try {
    return await open(word, realpathSync(cwd));
  } catch (error) {
    if (error instanceof GitError) throw new UsageError(`--worktree: ${error.message}`);
    throw error;
  }
}

async function open(name: string, cwd: string): Promise<LinkedTree> {
  const root = workspaceRoot(cwd);
  if (gitFolderOf(root) === undefined)
    throw new UsageError(`--worktree needs a git repository, and ${cwd} is in none: git init, and commit`);
  const first = firstTreeOf(root);
  const hash = createHash("sha256").update(first).digest("hex").slice(0, 8);
  const kept = join(folders(process.env).worktrees, `${basename(first) || "root"}-${hash}`);
  const tree = await openLinkedTree(
    cwd,
    { folder: join(kept, name), branch: `sawtooth/${name}` },
    process.env,
  );
  const below = join(tree.folder, relative(root, cwd));
  process.chdir(existsSync(below) ? below : tree.folder);
  const { files } = tree.isNew ? await ownWork({ ...tree, folder: root }, process.env) : { files: 0 };
  say(`Worktree ${inHome(tree.folder)} on branch ${tree.branch}${tree.isNew ? "" : ", as it was left"}`);
  if (files > 0)
    say(
      `${plural(files, "changed file")} of ${inHome(root)} ${files === 1 ? "is" : "are"} not in it: it begins at the last commit`,
    );
  return tree;
}

/** Removes a tree that nothing was done in; else says how to go on with it. */
async function left(tree: LinkedTree, name: string): Promise<void> {
  const { folder, branch } = tree;
  // Removed meanwhile, by a command or by hand.
  if (!existsSync(folder)) return;
  const work = await ownWork(tree, process.env);
  if (work.commits === 0 && work.files === 0) {
    await removeLinkedTree(tree, process.env);
    say("The worktree was removed: nothing in it had changed");
    return;
  }
  say(`The worktree has ${workText(work)}:`);
  if (work.files > 0) say(`  commit    git -C ${quoted(folder)} add -A && git -C ${quoted(folder)} commit`);
  say(`  merge     git merge ${branch}`);
  say(`  go on     sawtooth -w ${name}`);
  say(`  discard   git worktree remove --force ${quoted(folder)} && git branch -D ${branch}`);
}

function workText({ commits, files }: OwnWork): string {
  const parts = [
    ...(commits > 0 ? [plural(commits, "commit")] : []),
    ...(files > 0 ? [plural(files, "file")] : []),
  ];
  return `${parts.join(" and ")}${files > 0 ? " not committed" : " to merge"}`;
}

/** Returns a path as a word of a command line. */
function quoted(path: string): string {
  const word = inHome(path);
  return /^[\w./~@%+=:,-]+$/.test(word) ? word : `'${path.replaceAll("'", "'\\''")}'`;
}

function inHome(path: string): string {
  const home = process.env.HOME || homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function say(text: string): void {
  writeError(`${cleanLine(text)}\n`);
}
