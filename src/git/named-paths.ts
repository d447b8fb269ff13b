/** Lists paths that a repository's settings lead to, whose content git obeys or runs like the settings themselves. */

import { dirname, join, resolve } from "node:path";
import { readUntrusted } from "../disk/untrusted-file.ts";
import { settingsIn } from "./configured-programs.ts";

/** Included files can include others, this deep. */
const mostIncludes = 4;

/**
 * Lists folders of hooks and included files, absolute. `data`: the folder with `config`. `tree`: the working tree, from
 * which git starts hooks.
 */
export function pathsNamedIn(data: string, tree: string, home: string): string[] {
  return ["config", "config.worktree"].flatMap((name) => namedIn(join(data, name), tree, home, mostIncludes));
}

function namedIn(file: string, tree: string, home: string, deeper: number): string[] {
  const text = readUntrusted(file);
  if (text === undefined) return [];
  const at = (folder: string, value: string) => resolve(folder, value.trim().replace(/^~(?=\/)/, home));
  return settingsIn(text).flatMap(([name, value]) => {
    if (value.trim() === "") return [];
    if (name === "core.hookspath") return [at(tree, value)];
    if (!/^include(?:if\..*)?\.path$/.test(name)) return [];
    const included = at(dirname(file), value);
    return [included, ...(deeper > 0 ? namedIn(included, tree, home, deeper - 1) : [])];
  });
}
