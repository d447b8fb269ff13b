/** Lists the files that the user can name: those that git lists, else those found in the folder. */

import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { listFiles } from "../../git/list-files.ts";

const most = 200_000;

/** Returns paths relative to `cwd`, shortest first among neighbours as git lists them, without ignored files. */
export async function workspaceFiles(cwd: string): Promise<string[]> {
  return (await listFiles(cwd, process.env))?.slice(0, most) ?? walk(cwd);
}

const skipped = new Set(["node_modules", ".git", ".hg", ".svn", "__pycache__", ".venv", "target", "dist"]);
const mostWalked = 20_000;

async function walk(root: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [root];
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (files.length + folders.length > mostWalked) return files;
      const path = join(folder, entry.name);
      if (entry.isFile()) files.push(relative(root, path));
      else if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path);
    }
  }
  return files;
}
