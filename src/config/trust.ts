/** Records which contents of a repository the user has trusted, by hash: one changed byte makes other contents. */

import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders } from "../disk/make-folders.ts";
import { appendLine } from "../disk/replace-file.ts";

/** `refused`: the user does not want to be asked about these contents again. */
type Decision = { hash: string; folder: string; refused?: true | undefined };

/**
 * Looks up the decisions, of which the last one counts. `now`: exactly these contents are trusted; `before`: others from
 * the folder were; `refused`: these are not to be asked about.
 */
export function trusted(
  file: string,
  { hash, folder }: Decision,
): { now: boolean; before: boolean; refused: boolean } {
  const known = decisions(file).filter((each) => each.folder === folder);
  const last = known.findLast((each) => each.hash === hash);
  return {
    now: last !== undefined && !last.refused,
    before: known.some((each) => !each.refused),
    refused: last?.refused === true,
  };
}

/** Records a decision. Throws an error of one line when the file cannot be written; `otherwise` says what then holds. */
export function rememberTrust(
  file: string,
  { hash, folder, refused }: Decision,
  otherwise = "the commands are taken for this session only",
): void {
  try {
    makeFolders(dirname(file), 0o700);
    appendLine(file, JSON.stringify({ hash, folder, refused }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be written (${code}): ${otherwise}`);
  }
}

/** Reads the decisions and ignores damaged lines. */
function decisions(file: string): Decision[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
    return lines.flatMap((line) => {
      try {
        const { hash, folder, refused } = JSON.parse(line) as Partial<Decision>;
        if (typeof hash !== "string" || typeof folder !== "string") return [];
        return [{ hash, folder, ...(refused ? { refused } : {}) }];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
