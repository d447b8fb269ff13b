/**
 * Finds the commands of a line that need no permission: they only read, and only inside the workspace or the session.
 * Pure.
 */

import { gitFolder } from "./bash/readers/git.ts";
import { nothing, type Reading } from "./bash/readers/reading.ts";
import { readingOf, readingOver } from "./bash/readers/table.ts";
import type { SimpleCommand } from "./bash/scanner.ts";
import type { FolderSurvey, PermissionQuery } from "./decision.ts";
import { isKnown } from "./decision.ts";
import { holdsSecret } from "./names.ts";
import { hasGlob, isInside, plain, resolvePath } from "./paths.ts";
import { coversPath } from "./rules.ts";

export const streams = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)$/;

/** The reason why the command at `index` needs permission; undefined when it needs none. */
export type NotFree =
  | { why: "does-more" }
  /** Absolute paths that it reads outside, or that hold secrets. */
  | { why: "outside" | "secret"; paths: string[] }
  | { why: "git" | "leads-out"; detail: string };

export function notFree(
  query: PermissionQuery,
  commands: readonly SimpleCommand[],
  index: number,
): NotFree | undefined {
  const simple = commands[index];
  const reading = simple && (isServerCall(query, simple) ? justWords : readingIn(commands, index));
  if (!simple || !reading) return { why: "does-more" };
  const git = runsInGit(query, simple);
  if (git !== undefined) return { why: "git", detail: git };
  const inputs: string[] = [];
  for (const { operator, target } of simple.redirects) {
    if (streams.test(target)) continue;
    if (operator !== "<") return { why: "does-more" };
    inputs.push(target);
  }
  const whole = { ...reading, contents: [...reading.contents, ...inputs] };
  for (const folder of simple.folders) {
    const problem = readsElsewhere(query, simple, whole, folder);
    if (problem) return problem;
  }
  return undefined;
}

/** Its server is asked for by itself: beside that it only takes words. */
const justWords: Reading = { ...nothing, wordsOnly: true };

function isServerCall({ servers }: PermissionQuery, { words }: SimpleCommand): boolean {
  const [program, server] = words.map(plain);
  return (
    program === "mcp" && servers !== undefined && (server === undefined || servers.names.includes(server))
  );
}

function readingIn(commands: readonly SimpleCommand[], index: number): Reading | undefined {
  const words = commands[index]?.words ?? [];
  return words[0] === "xargs" ? readingOfXargs(commands, index) : readingOf(words);
}

/** Returns the reason why a reading reaches outside, or undefined. `folder` is where the command runs. */
function readsElsewhere(
  query: PermissionQuery,
  simple: SimpleCommand,
  reading: Reading,
  folder: string,
): NotFree | undefined {
  const globs = simple.words.slice(1).filter((word) => hasGlob(word) && word !== "[" && word !== "]");
  const outside: string[] = [];
  const secret: string[] = [];
  const contents = reading.contents.flatMap((path) => pathsOf(query, path, folder) ?? []);
  const others = [...reading.names, ...globs].map((path) => pathsOf(query, path, folder));
  if ([...reading.contents.map((path) => pathsOf(query, path, folder)), ...others].includes(undefined))
    return { why: "leads-out", detail: "a glob matches too many files to check" };
  if (globs.some((glob) => mayBeOption(query, glob, folder)))
    return { why: "leads-out", detail: "a file name looks like an option" };
  if (!reading.wordsOnly && !mayRead(query, query.realPath(folder))) outside.push(folder);
  for (const path of [...contents, ...others.flatMap((paths) => paths ?? [])]) {
    const real = query.realPath(path);
    if (!mayRead(query, real)) outside.push(real);
  }
  for (const path of contents) {
    const real = query.realPath(path);
    if ((holdsSecret(path) || holdsSecret(real)) && !isAllowed(query, real)) secret.push(real);
  }
  if (outside.length > 0) return { why: "outside", paths: [...new Set(outside)] };
  secret.push(...reading.chosen.filter(holdsSecret).map((name) => resolvePath(folder, plain(name))));
  if (secret.length > 0) return { why: "secret", paths: [...new Set(secret)] };
  const detail = leadsOut(query, reading.walked, folder) ?? oddNames(query, reading.handed ?? [], folder);
  return detail === undefined ? undefined : { why: "leads-out", detail };
}

function leadsOut(query: PermissionQuery, walked: readonly string[], folder: string): string | undefined {
  return walked.map((path) => surveyOf(query, path, folder)?.link).find((why) => why !== undefined);
}

function oddNames(query: PermissionQuery, handed: readonly string[], folder: string): string | undefined {
  return handed.map((path) => surveyOf(query, path, folder)?.oddName).find((why) => why !== undefined);
}

function surveyOf(query: PermissionQuery, path: string, folder: string): FolderSurvey | undefined {
  return query.survey?.(query.realPath(resolvePath(folder, plain(path))));
}

/** Returns the paths that a word stands for; a glob that cannot be resolved stands for itself. */
export function pathsOf({ matches }: PermissionQuery, word: string, folder: string): string[] | undefined {
  const path = resolvePath(folder, word);
  if (!hasGlob(word) || !matches) return [plain(path)];
  const found = matches(path);
  return found && [...found, plain(path)];
}

/** Returns true when a name that a glob matches could be taken for an option: bash substitutes the bare names. */
function mayBeOption({ matches }: PermissionQuery, glob: string, folder: string): boolean {
  if (!/^[*?[]/.test(glob)) return false;
  const from = folder === "/" ? 1 : folder.length + 1;
  return (matches?.(resolvePath(folder, glob)) ?? []).some((path) => path.slice(from).startsWith("-"));
}

function mayRead(query: PermissionQuery, path: string): boolean {
  return isKnown(query, path) || isAllowed(query, path);
}

/** Checks the `read(…)` rules, which also cover commands that read. */
function isAllowed({ allow, workspace, home }: PermissionQuery, path: string): boolean {
  return allow.some((rule) => rule.tool === "read" && coversPath(rule, path, workspace, home));
}

/** Returns the reason why a reading git command may still run a program that its repository names, or undefined. */
export function runsInGit(
  { programsInGit }: PermissionQuery,
  { words, folders }: SimpleCommand,
): string | undefined {
  if (words[0] !== "git" && !(words[0] === "xargs" && words.includes("git"))) return undefined;
  for (const folder of folders) {
    const inside = gitFolder(words.slice(1).map(plain), folder);
    const why = programsInGit?.(inside);
    if (why !== undefined) return `git in ${inside} may run a program that the repository names: ${why}`;
  }
  return undefined;
}

/** Returns the reading of `xargs` where both programs only read and the names it is given are those of files inside. */
function readingOfXargs(commands: readonly SimpleCommand[], index: number): Reading | undefined {
  const { words = [], redirects = [] } = commands[index] ?? {};
  const producer = producerOf(commands, index);
  if (!producer || redirects.some(({ operator }) => operator === "<")) return undefined;
  let first = 1;
  let isBehind = true;
  for (; words[first]?.startsWith("-"); first++) {
    const word = plain(words[first] ?? "");
    if (word === "-I{}" || (word === "-I" && plain(words[first + 1] ?? "") === "{}")) isBehind = false;
    else if (!/^-(?:[0r]+|[nLP]\d*)$|^--(?:null|no-run-if-empty|max-args=\d+|max-procs=\d+)$/.test(word))
      return undefined;
    if (/^-[nLPI]$/.test(word)) first += 1;
  }
  const reading = readingOver(words.slice(first), producer.roots, isBehind);
  return (
    reading && {
      ...reading,
      walked: [...reading.walked, ...producer.roots],
      handed: producer.roots,
      chosen: [...reading.chosen, ...producer.words],
    }
  );
}

/** `words`: the arguments that choose files. */
type Producer = { roots: readonly string[]; words: readonly string[] };

/** Returns the command that prints names into the pipe, seen through filters that pass some of its lines on. */
function producerOf(commands: readonly SimpleCommand[], index: number): Producer | undefined {
  for (let at = index - 1; at >= 0; at--) {
    const { words, after, redirects } = commands[at] ?? { words: [], after: "", redirects: [] };
    if (after !== "|" || redirects.some(({ operator, target }) => operator === "<" || target !== "/dev/null"))
      return undefined;
    if (!passesOn(words.map(plain))) {
      const roots = rootsOf(words);
      const names = words[0] === "find" ? words : (readingOf(words)?.chosen ?? []);
      return roots && { roots: roots.length > 0 ? roots : ["."], words: names };
    }
  }
  return undefined;
}

/** Returns true for a filter that drops or sorts lines but changes none. */
function passesOn([name = "", ...args]: string[]): boolean {
  const rest = args.filter((arg) => !arg.startsWith("-"));
  switch (name) {
    case "grep":
      return rest.length === 1 && args.every((arg) => !arg.startsWith("-") || /^-[viEFPwx]+$/.test(arg));
    case "head":
    case "tail":
      return /^(?:|-\d+|-n ?\d+)$/.test(args.join(" "));
    case "sort":
      return args.every((arg) => /^-[urnVf]+$/.test(arg));
    case "uniq":
      return args.length === 0;
    default:
      return false;
  }
}

function rootsOf(words: readonly string[]): readonly string[] | undefined {
  const [name = "", ...args] = words;
  const reading = readingOf(words) ?? nothing;
  const own = args.map(plain);
  const lists = (flags: RegExp): boolean =>
    own.some((arg) => flags.test(arg)) && !own.some((arg) => /^--(?:colou?r|label|json)/.test(arg));
  if (readingOf(words) === undefined) return undefined;
  if (name === "find") {
    if (own.some((arg) => /^-(?:exec|printf|ls)$/.test(arg))) return undefined;
    return reading.names;
  }
  if (name === "rg" && lists(/^-[ilvwFPsSu0.]*l[ilvwFPsSu0.]*$|^--files(?:-with-matches)?$/))
    return reading.contents;
  if (
    name === "grep" &&
    lists(/^-[irRvwEFPhszZlL]*[lL][irRvwEFPhszZlL]*$|^--files-with(?:out-match|-matches)$/)
  )
    return reading.contents;
  if (name !== "git") return undefined;
  if (
    own[0] === "ls-files" &&
    own.every((arg) => /^(?:[^-].*|-[comz]+|--|--(?:others|cached|modified|exclude-standard))$/.test(arg))
  )
    return [];
  return own[0] === "grep" && lists(/^-[ivwEFPzIl]*l[ivwEFPzIl]*$|^--files-with-matches$/) ? [] : undefined;
}

export function isInWorkspace({ workspace }: PermissionQuery, path: string): boolean {
  return workspace.some((root) => isInside(path, root));
}
