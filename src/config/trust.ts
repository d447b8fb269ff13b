/** Records which contents of a repository the user has trusted, by hash: one changed byte makes other contents. */

import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders } from "../disk/make-folders.ts";
import { appendLine } from "../disk/replace-file.ts";

type Decision = { hash: string; folder: string };

/** Looks up a decision. `now`: exactly these contents were trusted; `before`: others from the folder were. */
export function trusted(file: string, { hash, folder }: Decision): { now: boolean; before: boolean } {
  const known = decisions(file);
  return {
    now: known.some((each) => each.hash === hash && each.folder === folder),
    before: known.some((each) => each.folder === folder),
  };
}

/** Records the trust. Throws an error of one line when the file cannot be written. */
export function rememberTrust(file: string, { hash, folder }: Decision): void {
  try {
    makeFolders(dirname(file), 0o700);
    appendLine(file, JSON.stringify({ hash, folder }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be written (${code}): the commands are taken for this session only`);
  }
}

/** Reads the decisions and ignores damaged lines. */
function decisions(file: string): Decision[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
    return lines.flatMap((line) => {
      try {
        const { hash, folder } = JSON.parse(line) as Partial<Decision>;
        return typeof hash === "string" && typeof folder === "string" ? [{ hash, folder }] : [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
