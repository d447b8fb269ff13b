/** Which contents of a repository a person has trusted, by hash: one changed byte is other contents. */

import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders } from "../core/make-folders.ts";

type Decision = { hash: string; folder: string };

/** `now`: these very contents were trusted; `before`: others from the folder were. */
export function trusted(file: string, { hash, folder }: Decision): { now: boolean; before: boolean } {
  const known = decisions(file);
  return {
    now: known.some((each) => each.hash === hash && each.folder === folder),
    before: known.some((each) => each.folder === folder),
  };
}

/** Throws an error of one line when the file cannot be written. */
export function rememberTrust(file: string, { hash, folder }: Decision): void {
  try {
    makeFolders(dirname(file), (folder) => mkdirSync(folder, { mode: 0o700 }));
    appendFileSync(file, `${JSON.stringify({ hash, folder })}\n`, { mode: 0o600 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be written (${code}): the commands are taken for this session only`);
  }
}

/** Lines that are damaged count for nothing. */
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
