/** Lists a folder, two levels deep, with sizes, without the files that git ignores. */

import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { listFiles } from "../../git/list-files.ts";
import { fitting, visible } from "./text/lines.ts";

/** Folders that a walk without git skips. */
const skipped = new Set([".git", "node_modules"]);
const maxWalked = 20_000;

/** A file has a size, a folder children. */
type Node = { name: string; size?: string; children?: Map<string, Node> };

/** Lists a folder. `path` is real, `name` as the model wrote it. At most `bytes` of text. */
export async function listingOf(
  path: string,
  name: string,
  bytes: number,
  signal: AbortSignal,
): Promise<string> {
  const listed = await listFiles(path, process.env, signal);
  // Git lists nothing for an ignored folder.
  const known = listed?.length === 0 ? undefined : listed;
  const tree: Node = { name, children: new Map() };
  for (const file of known ?? (await walk(path, signal))) add(tree, file.split("/"));
  await measure(path, tree);
  const source = known ? "What git ignores is left out." : "node_modules and .git are left out.";
  const lines = [`${name}: ${countOf(tree)}, two levels shown. ${source}`, ...linesOf(tree, "")];
  const shown = fitting(lines, bytes - 200);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 ? [`[${rest} more entries: view a folder of them, or use bash]`] : [])].join(
    "\n",
  );
}

/**
 * Returns the relative paths of everything under the folder, nearest first; an empty folder ends with a slash, as in
 * git's list.
 */
async function walk(root: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const folders = [""];
  for (const folder of folders) {
    if (found.length > maxWalked || signal.aborted) break;
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((): Dirent[] => []);
    const listed = entries.filter(({ name }) => !skipped.has(name));
    if (listed.length === 0 && folder !== "") found.push(folder);
    for (const entry of listed) {
      if (entry.isDirectory()) folders.push(`${folder}${entry.name}/`);
      else found.push(`${folder}${entry.name}`);
    }
  }
  return found;
}

function add(folder: Node, [name = "", ...rest]: string[]): void {
  if (name === "") return;
  const child: Node = folder.children?.get(name) ?? { name };
  folder.children?.set(name, child);
  if (rest.join("") === "") return;
  child.children ??= new Map();
  add(child, rest);
}

/** Fills in the sizes of the listed files and removes those that git knows but that are gone. */
async function measure(root: string, tree: Node): Promise<void> {
  const shown = [...(tree.children?.values() ?? [])].flatMap((child) => [
    { folder: tree, child, path: child.name },
    ...[...(child.children?.values() ?? [])].map((grandchild) => ({
      folder: child,
      child: grandchild,
      path: join(child.name, grandchild.name),
    })),
  ]);
  for (const { folder, child, path } of shown) {
    if (child.children) continue;
    const stats = await lstat(join(root, path)).catch(() => undefined);
    if (!stats) folder.children?.delete(child.name);
    else if (stats.isDirectory()) child.children = new Map();
    else child.size = stats.isSymbolicLink() ? "link" : sizeOf(stats.size);
  }
}

function linesOf(folder: Node, indent: string): string[] {
  const children = [...(folder.children?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  return children.flatMap((child) => {
    const name = indent + visible(child.name);
    if (!child.children) return [`${name}  ${child.size}`];
    return [
      `${name}/  ${child.children.size > 0 ? countOf(child) : ""}`.trimEnd(),
      ...(indent === "" ? linesOf(child, "  ") : []),
    ];
  });
}

function countOf(folder: Node): string {
  const count = (node: Node): number =>
    node.children ? [...node.children.values()].reduce((sum, child) => sum + count(child), 0) : 1;
  const files = count(folder);
  return files === 1 ? "1 file" : `${files} files`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
