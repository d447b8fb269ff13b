/**
 * Looks at the disk before a reading command runs: the names that a glob matches, and links that lead out of a folder.
 */

import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { realTarget } from "../../disk/real-path.ts";
import type { FolderSurvey } from "../../permissions/decision.ts";
import { canBe, hasGlob, isInside, plain } from "../../permissions/paths.ts";

const mostNames = 2_000;
const mostEntries = 20_000;

/**
 * Returns the absolute paths that an absolute glob matches, as bash would list them; undefined when there are too many.
 */
export function namesMatching(glob: string): string[] | undefined {
  let paths = ["/"];
  for (const part of glob.split("/").filter(Boolean)) {
    if (!hasGlob(part)) paths = paths.map((path) => join(path, plain(part)));
    else
      paths = paths.flatMap((path) =>
        entriesOf(path)
          .filter(({ name }) => canBe(part, name))
          .map(({ name }) => join(path, name)),
      );
    if (paths.length > mostNames) return undefined;
  }
  return paths;
}

/** Finds the first link below a folder that leads out of it, and the first name that would be split at blanks. */
export function surveyFolder(folder: string): FolderSurvey {
  const survey: FolderSurvey = {};
  let count = 0;
  for (const { entry, path } of entriesBelow(folder)) {
    count += 1;
    if (count > mostEntries) {
      const why = `${folder} holds too many files to check`;
      return { link: why, oddName: why };
    }
    if (/^-|[\s'"\\\p{Cc}]/u.test(entry.name))
      survey.oddName ??= `the file name ${path} could be split or taken for an option`;
    if (entry.isSymbolicLink() && leads(path, folder))
      survey.link ??= `the link ${path} leads out of ${folder}`;
    if (survey.link !== undefined && survey.oddName !== undefined) return survey;
  }
  return survey;
}

/** Walks the entries below a folder, without the insides of a `.git`. */
function* entriesBelow(folder: string): Generator<{ entry: Dirent; path: string }> {
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of entriesOf(at)) {
      const path = join(at, entry.name);
      yield { entry, path };
      if (entry.isDirectory() && entry.name !== ".git") waiting.push(path);
    }
  }
}

function leads(path: string, folder: string): boolean {
  try {
    return !isInside(realTarget(path), folder);
  } catch {
    return true;
  }
}

/** Lists a folder; one that cannot be listed counts as empty, as it would for the command. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
