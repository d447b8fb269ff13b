/** Which commands only read, judged by their name and flags. What is not known here counts as writing. Pure. */

import { resolvePath } from "./permission-path.ts";

type ReadsOnly = (args: string[]) => boolean;

/** True when none of the flags is there: long ones also abbreviated, short ones also inside a cluster. */
function without(...flags: string[]): ReadsOnly {
  return (args) => !args.some((arg) => flags.some((flag) => isFlag(arg, flag)));
}

function isFlag(arg: string, flag: string): boolean {
  const name = arg.split("=")[0] ?? "";
  if (flag.startsWith("--")) return name.length > 3 && flag.startsWith(name);
  if (flag.length === 2) return arg.startsWith("-") && !arg.startsWith("--") && name.includes(flag.charAt(1));
  return name === flag;
}

const always: ReadsOnly = () => true;

function operandsOf(args: string[]): string[] {
  return args.filter((arg) => !arg.startsWith("-"));
}

/** At most one operand: with these, a second one is a file to write. */
const oneOperand: ReadsOnly = (args) => operandsOf(args).length <= 1;

const plainReaders =
  "cat head tail wc ls pwd echo printf which type stat du df nl cut tr comm diff cmp md5sum sha1sum sha256sum basename " +
  "dirname realpath readlink uname whoami id true false test [ grep egrep fgrep od hexdump strings column cd sleep";

const findWrites = /^-(?:delete|exec|execdir|ok|okdir|fprint|fprint0|fprintf|fls)$/;

const readers: Record<string, ReadsOnly> = {
  ...Object.fromEntries(plainReaders.split(" ").map((name) => [name, always])),
  date: without("-s", "--set"),
  file: without("-C", "--compile"),
  find: (args) => !args.some((arg) => findWrites.test(arg)),
  git: gitReads,
  rg: without("--pre", "--hostname-bin", "--search-zip", "-z"),
  sed: (args) => args[0] === "-n" && /^[\d,$;p\s]+$/.test(args[1] ?? "") && without("-i", "--in-place")(args),
  sort: without("-o", "--output", "--compress-program", "-T"),
  tree: without("-o", "-R"),
  uniq: oneOperand,
  xxd: (args) => oneOperand(args) && without("-r")(args),
};

/** Git flags that run programs or write files, wherever they stand. */
const gitFlags = without(
  ...["--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--upload-pack", "--receive-pack"],
  ...["--exec-path", "--config-env", "--filters", "--exec"],
);

const gitSubcommands: Record<string, ReadsOnly> = {
  ...Object.fromEntries(
    (
      "status log diff show blame ls-files ls-tree rev-parse describe shortlog cat-file merge-base name-rev " +
      "rev-list diff-tree for-each-ref check-ignore count-objects"
    )
      .split(" ")
      .map((name) => [name, always]),
  ),
  branch: (args) =>
    args.every((arg) => /^(?:--list|--all|-a|-r|-v|-vv|--show-current|--remotes|--no-color)$/.test(arg)),
  config: (args) => /^(?:--get|--get-all|--list|-l)$/.test(args[0] ?? ""),
  grep: without("-O"),
  reflog: (args) => args.length === 0 || args[0] === "show",
  remote: (args) => args.length === 0 || args[0] === "-v" || args[0] === "get-url",
  stash: (args) => args[0] === "list" || args[0] === "show",
  tag: (args) => args.length === 0 || args[0] === "-l" || args[0] === "--list",
  worktree: (args) => args[0] === "list",
};

/** What stands before git's subcommand: flags, and the values of those that take one. */
function gitGlobals(args: string[]): string[] {
  let count = 0;
  while (args[count]?.startsWith("-")) {
    count += /^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path)$/.test(args[count] ?? "")
      ? 2
      : 1;
  }
  return args.slice(0, count);
}

/** The folder in which git works: where it is run, or where `-C` leads. `args` without `git`. */
export function gitFolder(args: string[], folder: string): string {
  return gitGlobals(args).reduce(
    (at, arg, index, all) => (all[index - 1] === "-C" ? resolvePath(at, arg) : at),
    folder,
  );
}

function gitReads(args: string[]): boolean {
  const globals = gitGlobals(args);
  const [subcommand = "", ...rest] = args.slice(globals.length);
  const reads = Object.hasOwn(gitSubcommands, subcommand) ? gitSubcommands[subcommand] : undefined;
  const known = globals.every((arg) => /^(?:--no-pager|--no-optional-locks|-C|[^-].*)$/.test(arg));
  return known && gitFlags(rest) && reads?.(rest) === true;
}

/** Whether the command with these words (quotes gone) reads and does nothing else. */
export function onlyReads([name = "", ...args]: string[]): boolean {
  return Object.hasOwn(readers, name) && readers[name]?.(args) === true;
}

export function isReader(name: string): boolean {
  return Object.hasOwn(readers, name);
}

/** Whether a command that a rule allows does more than such a rule can have meant: it runs or writes something else. */
export function exceedsRule([name = "", ...args]: string[]): boolean {
  if (name === "find") return args.some((arg) => findWrites.test(arg));
  if (name !== "git") return false;
  const globals = gitGlobals(args);
  const subcommand = args[globals.length];
  const pager = subcommand === "grep" && !without("-O")(args.slice(globals.length));
  return pager || !gitFlags(args) || globals.some((arg) => /^(?:-c|--git-dir|--work-tree)/.test(arg));
}

const wordsOnly = new Set([
  "echo",
  "printf",
  "pwd",
  "which",
  "type",
  "whoami",
  "id",
  "uname",
  "true",
  "false",
  "date",
  "tr",
  "sleep",
]);
const patternFirst = new Set(["grep", "egrep", "fgrep", "rg", "sed"]);

/** The words that a reading command takes as paths; some of them may be something else (a branch, a pattern). */
export function pathsRead([name = "", ...args]: string[]): string[] {
  if (wordsOnly.has(name)) return [];
  const pattern =
    patternFirst.has(name) && !args.some((arg) => /^-[a-zA-Z]*[ef]|^--(?:regexp|file)/.test(arg));
  const first = pattern ? args.findIndex((arg) => !arg.startsWith("-")) : -1;
  return args.flatMap((arg, index) => {
    if (index === first) return [];
    if (!arg.startsWith("-")) return [arg];
    // `--file=x`, `-f../x` and `-f/x`: the path hangs on the flag.
    return [/=(.+)/.exec(arg)?.[1] ?? /(?:\.\.\/|\/).*/.exec(arg)?.[0] ?? []].flat();
  });
}
