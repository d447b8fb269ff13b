/** Reads AGENTS.md and similar files as text for the model. Nothing in them is included, run or obeyed here. */

import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { beginningOf } from "../disk/beginning.ts";

export type Instructions = { files: { path: string; text: string }[]; warnings: string[] };

const mostBytes = 32 * 1024;

/** Returns the top of the git repository around `cwd`, found without git; `cwd` itself outside of one. A real path. */
export function workspaceRoot(cwd: string): string {
  const real = realpathSync(cwd);
  for (let folder = real; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return real;
  }
}

/**
 * Reads the user's own instructions, then those of the folders from the workspace down to `cwd`: AGENTS.md, or
 * CLAUDE.md where there is none. Files outside the workspace, links to such files and files that are not text are
 * refused.
 */
export function projectInstructions(folders: {
  cwd: string;
  workspace: string;
  home: string;
  configFolder: string;
}): Instructions {
  const found: Instructions = { files: [], warnings: [] };
  const own = join(folders.configFolder, "AGENTS.md");
  if (existsSync(own)) take(found, own, own);
  for (const folder of foldersDown(folders.workspace, folders.cwd)) takeOf(found, folder, folders);
  return found;
}

/** Folders of others' code: their instructions are not the project's. */
const foreign = new Set(["node_modules", ".git"]);

/**
 * Reads the instructions of the folders that lead to `paths` (absolute, real) and not to `cwd`, the outer first, but
 * not those in `told`. Ends after `most` bytes in all, and 32 KiB: the rest comes with a later touch.
 */
export function nestedInstructions(
  paths: readonly string[],
  told: ReadonlySet<string>,
  folders: { cwd: string; workspace: string; home: string; most: number },
): Instructions {
  const most = Math.min(folders.most, mostBytes);
  const read = new Set(foldersDown(folders.workspace, folders.cwd));
  const found: Instructions = { files: [], warnings: [] };
  for (const path of paths) {
    const inside = isInside(path, folders.workspace) ? relative(folders.workspace, path).split("/") : [];
    if (inside.some((name) => foreign.has(name))) continue;
    for (const folder of foldersDown(folders.workspace, path)) {
      if (read.has(folder)) continue;
      read.add(folder);
      takeOf(found, folder, { ...folders, most, told });
      if (found.files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) >= most) return found;
    }
  }
  return found;
}

function takeOf(
  found: Instructions,
  folder: string,
  scope: { workspace: string; home: string; most?: number; told?: ReadonlySet<string> },
): void {
  const path = ["AGENTS.md", "CLAUDE.md"].map((name) => join(folder, name)).find(isThere);
  if (path === undefined || scope.told?.has(path)) return;
  const real = realOf(path);
  if (real !== undefined && mayRead(path, real, scope)) take(found, path, real, scope.most);
  else found.warnings.push(`${path} was not read: it leads out of the workspace`);
}

function foldersDown(workspace: string, cwd: string): string[] {
  const real = realOf(cwd) ?? cwd;
  if (!isInside(real, workspace)) return [workspace];
  const folders = [workspace];
  for (const name of relative(workspace, real).split("/").filter(Boolean)) {
    folders.push(join(folders.at(-1) ?? workspace, name));
  }
  return folders;
}

/** Returns true for anything that exists, even a broken link. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Refuses paths that lead out. In a workspace that contains the home, so does a link into a hidden folder (`.ssh`). */
function mayRead(
  path: string,
  real: string,
  { workspace, home }: { workspace: string; home: string },
): boolean {
  if (!isInside(real, workspace)) return false;
  const isLink = real !== join(realOf(dirname(path)) ?? "", path.slice(path.lastIndexOf("/") + 1));
  return !isLink || !isInside(real, home) || !relative(home, real).startsWith(".");
}

function take(found: Instructions, path: string, real: string, most = mostBytes): void {
  try {
    const { size } = statSync(real);
    if (!statSync(real).isFile()) {
      found.warnings.push(`${path} was not read: it is not a file`);
      return;
    }
    const text = shown(beginning(real, most));
    const rest = size > most ? `\n[cut after ${most} of ${size} bytes; the rest is in ${path}]` : "";
    if (text.trim() !== "") found.files.push({ path, text: text + rest });
  } catch (error) {
    found.warnings.push(`${path} was not read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function beginning(file: string, most: number): string {
  const bytes = beginningOf(file, most);
  // A character that the limit cuts in two is left out.
  return new TextDecoder().decode(bytes, { stream: bytes.length === most });
}

/** Characters that are invisible on a screen but reach a model: controls, bidi marks, tags, blank fillers. */
const invisible =
  /\p{Cf}|(?![\n\t])\p{Cc}|\p{Zl}|\p{Zp}|\u034f|[\u115f\u1160\u2800\u3164\uffa0]|[\ufe00-\ufe0e]|[\u{e0000}-\u{e0fff}]/gu;

/** Replaces each invisible character with a mark. */
export function shown(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(invisible, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}
