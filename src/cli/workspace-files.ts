/** The files that a person can name: what git lists, else what is found in the folder. */

import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";

const most = 200_000;

/** Paths relative to `cwd`, shortest first among neighbours as git lists them; ignored files are left out. */
export async function workspaceFiles(cwd: string): Promise<string[]> {
  return (await gitFiles(cwd)) ?? walk(cwd);
}

/** Nothing that the repository's configuration names is run. Undefined when it is no repository. */
function gitFiles(cwd: string): Promise<string[] | undefined> {
  const words = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate",
  ];
  const child = spawn("git", words, {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0" },
  });
  const pieces: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  return new Promise((resolve) => {
    child.on("error", () => resolve(undefined));
    child.on("close", (code) =>
      resolve(
        code === 0
          ? Buffer.concat(pieces).toString("utf8").split("\0").filter(Boolean).slice(0, most)
          : undefined,
      ),
    );
  });
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
