/** Folders in tests: files put into one, and all that is in it. */

import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Writes a file below `folder`, with its folders. Returns its path. */
export function putIn(folder: string, name: string, text: string | Buffer = name): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Lists everything in a folder: types, modes, contents. */
export function treeOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const status = lstatSync(path);
      if (status.isSymbolicLink()) return `${name} -> ${readlinkSync(path)}`;
      const content = status.isFile() ? readFileSync(path, "latin1") : "";
      return `${name} ${status.mode.toString(8)} ${content}`;
    });
}
