/** Programs in Perl and Python, for what Node cannot ask the kernel for: one of the two is on nearly every machine. */

import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

/** System folders in which the interpreters are looked for: never PATH, which a workspace may have a part in. */
export const systemFolders: readonly string[] = [
  "/usr/bin",
  "/bin",
  "/usr/local/bin",
  "/run/current-system/sw/bin",
];

/** The same program in both languages. */
export type Program = { perl: string; python: string };

/** Returns the words that start the program; undefined when this machine has neither Perl nor Python. */
export function interpreterIn(
  { perl, python }: Program,
  folders: readonly string[] = systemFolders,
): string[] | undefined {
  const [ofPerl, ofPython] = ["perl", "python3"].map((name) =>
    folders.map((folder) => join(folder, name)).find(isProgram),
  );
  if (ofPerl !== undefined) return [ofPerl, "-e", perl];
  return ofPython === undefined ? undefined : [ofPython, "-I", "-c", python];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
