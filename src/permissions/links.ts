/** Finds links in a call and where its paths really lead, for the user who is asked. Pure. */

import { resolvePath } from "./paths.ts";

/** `path`: as the call names it. `target`: absolute, every link resolved. */
export type PathLink = { path: string; target: string };

export type LinkScope = {
  /** Absolute folder that relative paths start from. */
  cwd: string;
  home: string;
  /** Returns the absolute path with links resolved, as far as it exists. May throw. */
  realPath?: ((path: string) => string) | undefined;
};

/** Words of a command line that are examined; each costs a disk access. */
const mostWords = 300;
/** Links of the system itself, such as `/bin`. */
const ofTheSystem = /^\/(?:usr|bin|sbin|lib\w*|etc\/alternatives)\//;

/**
 * Returns the paths in a call that a link redirects. The command is not parsed for it: each of its words is tried as a
 * path, so that no quoting hides one.
 */
export function linksIn(input: Readonly<Record<string, unknown>>, scope: LinkScope): PathLink[] {
  const { path, command } = input;
  const words =
    typeof path === "string" ? [path] : typeof command === "string" ? wordsOf(command) : ([] as string[]);
  const base = resolved(scope.cwd, scope);
  const found = new Map<string, PathLink>();
  for (const word of words) {
    const named = resolvePath(base, word.startsWith("~/") ? scope.home + word.slice(1) : word);
    const target = resolved(named, scope);
    if (target !== named && !ofTheSystem.test(target)) found.set(target, { path: word, target });
  }
  return [...found.values()];
}

/** Splits a command into what may be paths, whatever its quoting. */
export function wordsOf(command: string): string[] {
  const words = command.replaceAll(/\\(.)/g, "$1").split(/[\s'"`=<>|&;()${},]+/);
  return [...new Set(words)].filter((word) => word !== "").slice(0, mostWords);
}

/** Resolves links as far as the path exists; as it is where that fails. */
export function resolved(path: string, { realPath }: LinkScope): string {
  try {
    return realPath?.(path) ?? path;
  } catch {
    return path;
  }
}
