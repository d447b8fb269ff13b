/** Finds the instructions of folders that the agent's calls touch. */

import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent, TouchedPaths } from "../../agent/agent.ts";
import { nestedInstructions } from "../../config/instructions.ts";
import { realTarget } from "../../disk/real-path.ts";
import { wordsOf } from "../../permissions/links.ts";
import { resolvePath } from "../../permissions/paths.ts";

/** `workspace`, `cwd`: real. `shellFolder`: where commands run now. `onMachine`: where their paths lie. */
type Scope = {
  workspace: string;
  cwd: string;
  home: string;
  shellFolder(): string;
  onMachine(path: string): string;
  warn(text: string): void;
};

/** Creates the reader. A file that is refused is warned of once. */
export function instructionsReader(scope: Scope): NonNullable<Agent["instructionsFor"]> {
  const warned = new Set<string>();
  return (touched, told, most) => {
    const { files, warnings } = nestedInstructions(foldersOf(touched, scope), told, { ...scope, most });
    for (const warning of warnings.filter((each) => !warned.has(each))) {
      warned.add(warning);
      scope.warn(warning);
    }
    // What the model wrote just now it knows.
    return files.filter(({ path }) => !touched.wrote.includes(path));
  };
}

/** The real folders that were touched. Of a command each word is tried as a path, as the shell's folder is. */
function foldersOf({ read, wrote, commands }: TouchedPaths, scope: Scope): string[] {
  const here = commands.length > 0 ? [scope.shellFolder()] : [];
  const words = commands.flatMap(wordsOf).map(withoutGlob);
  const named = here.flatMap((folder) => words.map((word) => resolvePath(folder, word)));
  const paths = [...here, ...named].map(scope.onMachine);
  return [...new Set([...read, ...wrote, ...paths].flatMap(folderOf))];
}

/** The part of a word before its first wildcard, up to a slash. */
function withoutGlob(word: string): string {
  const at = word.search(/[*?[]/);
  return at < 0 ? word : word.slice(0, word.lastIndexOf("/", at) + 1) || ".";
}

function folderOf(path: string): string[] {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) return [];
    return [realTarget(stats.isDirectory() ? path : dirname(path))];
  } catch {
    return [];
  }
}
