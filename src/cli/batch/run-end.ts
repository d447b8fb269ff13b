/**
 * The end of a run, on the disk before its line is: the agent's work is paid for, so a batch that is killed in between
 * takes only the patch again.
 */

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../disk/real-path.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import { openTree, type Tree } from "../../git/frozen-tree.ts";
import { GitError } from "../../git/run.ts";
import { patchBytes } from "../fix/deliver.ts";
import type { ResultLine } from "./results.ts";

/** `unpatched`: present while the line has no patch yet: the files of the task, and their state before its agent. */
export type RunEnd = { line: ResultLine; unpatched?: { tree: string; before: string; opened: number } };

/** Names the folder that holds the states of a task's files. */
export function statesOf(tree: string): string {
  return `${tree}.states`;
}

/** Keeps the end of a run in its folder. On a disk that refuses, the task is run again after a kill. */
export function keepEnd(folder: string, end: RunEnd): void {
  try {
    replaceFile(fileIn(folder), JSON.stringify(end));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
}

export function forgetEnd(folder: string): void {
  rmSync(fileIn(folder), { force: true });
}

/** Returns the line of a run that ended before its batch was killed; undefined for one that must be run again. */
export async function keptLine(
  out: string,
  run: string,
  env: Record<string, string>,
): Promise<ResultLine | undefined> {
  const file = fileIn(join(out, run));
  if (!existsSync(file)) return undefined;
  const { line, unpatched } = JSON.parse(readFileSync(file, "utf8")) as RunEnd;
  if (!unpatched) return line;
  const { tree, before, opened } = unpatched;
  if (!existsSync(tree) || !existsSync(statesOf(tree))) return undefined;
  try {
    const files = await openTree(tree, env, () => {}, { folder: statesOf(tree), opened });
    return { ...line, ...(await storePatch(files, before, run, out)) };
  } catch (error) {
    if (error instanceof GitError || errorCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** Writes the changes of the task as a patch beside its log; it is on the disk before the line that names it. */
export async function storePatch(
  files: Tree,
  before: string,
  run: string,
  out: string,
): Promise<Partial<ResultLine>> {
  const after = await files.take();
  const patch = await files.patch(before, after);
  if (patch === "") return {};
  const changed = await files.changes(before, after);
  replaceFile(join(out, run, "patch.diff"), patchBytes(patch));
  return { patch: `${run}/patch.diff`, changed_files: changed.map(({ path }) => path) };
}

function fileIn(folder: string): string {
  return join(folder, "end.json");
}
