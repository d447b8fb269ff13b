/** The files that a command names, for the person who is asked whether it may leave the sandbox. Pure. */

import { type LinkScope, resolved, wordsOf } from "./links.ts";
import { isInside, resolvePath } from "./paths.ts";

/** Programs that run what a file of the folder says, by the names of such files. */
const runners: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(["npm", "npx", "pnpm", "yarn", "bun"].map((name) => [name, ["package.json"]])),
  ...{
    make: ["Makefile", "makefile", "GNUmakefile"],
    just: ["justfile"],
    docker: ["compose.yml", "docker-compose.yml", "Dockerfile"],
  },
};

/** Returns the real paths of files that words of the command lead to. `isFile` answers for absolute paths. */
export function namedFiles(command: string, scope: LinkScope, isFile: (path: string) => boolean): string[] {
  const words = wordsOf(command);
  const implied = words.flatMap((word) => (Object.hasOwn(runners, word) ? (runners[word] ?? []) : []));
  const paths = [...words, ...implied].map((word) =>
    resolved(resolvePath(scope.cwd, word.startsWith("~/") ? scope.home + word.slice(1) : word), scope),
  );
  return [...new Set(paths)].filter(isFile);
}

/** A change of a file in the session. `step`: number of the model's reply. */
export type FileEdit = { path: string; step: number };

/** Returns what the person has to know of a command that leaves: its folder, its files, and those that were changed. */
export function leavingNotes(
  cwd: string,
  files: readonly string[],
  edits: readonly FileEdit[],
  workspace: readonly string[],
): string[] {
  const shown = (path: string): string => {
    const root = workspace.find((one) => path !== one && isInside(path, one));
    return root === undefined ? path : path.slice(root.length + 1);
  };
  const changed = files.flatMap((path) => {
    const edit = edits.findLast((one) => one.path === path);
    return edit ? [`${shown(path)} was changed by the agent in step ${edit.step}`] : [];
  });
  const others = files.filter((path) => !edits.some((edit) => edit.path === path));
  return [...changed, `runs in ${cwd}`, ...(others.length > 0 ? [`names ${others.join(", ")}`] : [])];
}
