/** Writes and deletions that every mode refuses, whatever the rules say. Pure. */

import type { Candidate } from "./bash/programs.ts";
import { onlyReads } from "./bash/read-only.ts";
import { gitGlobals } from "./bash/readers/git.ts";
import { neverWrites } from "./bash/readers/table.ts";
import type { SimpleCommand } from "./bash/scanner.ts";
import { withoutUnknown } from "./bash/words.ts";
import { canReach, folded } from "./names.ts";
import {
  canBe,
  globExpression,
  hasGlob,
  isInside,
  masked,
  nameOf,
  parentOf,
  plain,
  resolvePath,
  withAncestors,
} from "./paths.ts";

export type PermissionScope = {
  /** Real paths. */
  workspace: string[];
  home: string;
  /** Sawtooth's own configuration and state. */
  protectedPaths: string[];
  /** The session's own folder: reading it needs no permission. */
  readable: string[];
  /** The folder for temporary files of commands. */
  temporary?: string | undefined;
  /** Returns an absolute path with its links resolved, as far as it exists. */
  realPath(path: string): string;
};

const systemFolders =
  "/bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var /Applications /Library /System /Users /private".split(
    " ",
  );
/** Files below the home that shells, git and ssh run or trust as they start. A folder covers everything in it. */
export const startFiles =
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .gitconfig .config/fish .config/git .ssh".split(
    " ",
  );
const devices = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|dm-|md|loop|mem|kmem|port)/;
/** Entries of a `.git` that hold the repository. The rest (a lock, a half-done rebase) may be deleted. */
const vital = [
  "objects",
  "refs",
  "HEAD",
  "packed-refs",
  "config",
  "hooks",
  "logs",
  "index",
  "modules",
  "worktrees",
];

/**
 * Returns the reason why writing this path is always refused, or undefined. `path` may be a glob; letter case is
 * ignored.
 */
export function deniedWrite(
  path: string,
  { home, protectedPaths, temporary }: PermissionScope,
): string | undefined {
  if (temporary !== undefined && isInside(plain(path), temporary)) return undefined;
  if (canReach(path, protectedPaths)) return "Sawtooth's own configuration and sessions must not be written";
  const parts = folded(path).split("/");
  const git = parts.findIndex((part) => canBe(part, ".git"));
  const inGit = git < 0 ? [] : parts.slice(git + 1);
  if (inGit.some((part) => canBe(part, "hooks"))) return "git hooks must not be written";
  const last = inGit.at(-1) ?? "";
  if (["config", "config.worktree", "commondir"].some((name) => canBe(last, name)))
    return "a repository's git configuration must not be written directly";
  if (
    canReach(
      path,
      startFiles.map((name) => `${home === "/" ? "" : home}/${name}`),
    )
  )
    return "the start-up files of the shell, git and ssh must not be written";
  return devices.test(folded(plain(path))) ? "devices must not be written" : undefined;
}

/**
 * Returns the reason why a command line is always refused, or undefined. `programs` lists everything the line may run.
 */
export function deniedCommand(programs: Candidate[], scope: PermissionScope): string | undefined {
  const judgeLoss = memoizedJudge(
    (path) => deniedDeletion(path, scope) ?? deniedDeletion(inRealFolder(path, scope), scope),
  );
  const judgeWrite = memoizedJudge((path) => refusedWriteTo(path, scope));
  for (const program of programs) {
    const { words, folders, written } = program;
    const reason =
      (/^mkfs|^(?:wipefs|blkdiscard)$/.test(words[0] ?? "") ? "disks must not be erased" : undefined) ??
      firstReason(folders, deleted(words), judgeLoss) ??
      (written && firstReason(folders, redirectTargets(written), judgeWrite)) ??
      (written && refusedTarget(program, scope));
    if (reason) return `${plain(withoutUnknown(words.join(" "))).slice(0, 120)}: ${reason}`;
  }
  return undefined;
}

function refusedWriteTo(path: string, scope: PermissionScope): string | undefined {
  return deniedWrite(path, scope) ?? deniedWrite(realOf(path, scope), scope);
}

/** Resolves the links of a path, as a write does. */
function realOf(path: string, { realPath }: PermissionScope): string {
  return hasGlob(path) ? path : masked(realPath(plain(path)));
}

/** Resolves the links above a path but not the last one: deleting a link removes the link itself. */
function inRealFolder(path: string, scope: PermissionScope): string {
  return resolvePath(realOf(parentOf(path), scope), nameOf(path));
}

type Judge = (path: string) => string | undefined;

/** Judges each path only once, because wrappers repeat the same paths many times. */
function memoizedJudge(judge: Judge): Judge {
  const harmless = new Set<string>();
  return (path) => {
    if (harmless.has(path)) return undefined;
    harmless.add(path);
    return judge(path);
  };
}

function firstReason(folders: string[], targets: string[], judge: Judge): string | undefined {
  for (const target of new Set(targets.map(withoutUnknown).filter(Boolean))) {
    for (const folder of folders) {
      const reason = judge(resolvePath(folder, target));
      if (reason) return reason;
    }
  }
  return undefined;
}

/** Lists the paths, perhaps globs, that a program deletes or moves away, absolute. */
export function deletions({ words, folders }: Candidate): string[] {
  if (/^(?:chmod|chown|chgrp|mv)$/.test(words[0] ?? "")) return [];
  const targets = words[0] === "git" ? deletedByGit(words.slice(1).map(plain)) : deleted(words);
  return targets.flatMap((target) => folders.map((folder) => resolvePath(folder, withoutUnknown(target))));
}

/** Lists the paths of `git rm`, also where it has options in front; `--cached` keeps the files. */
function deletedByGit(args: string[]): string[] {
  const own = args.slice(gitGlobals(args).length);
  return own[0] === "rm" && !own.includes("--cached") ? operandsOf(own.slice(1)) : [];
}

function redirectTargets({ redirects }: SimpleCommand): string[] {
  return redirects.filter(({ operator }) => operator !== "<").map(({ target }) => target);
}

/** Lists the paths that a command deletes, moves away, or changes recursively. */
function deleted(words: string[]): string[] {
  const args = words.slice(1);
  switch (words[0]) {
    case "rm":
    case "unlink":
    case "shred":
    case "srm":
    case "trash":
    case "trash-put":
      return operandsOf(args);
    case "mv":
      return movedAway(args);
    case "chmod":
    case "chown":
    case "chgrp":
      return args.some((arg) => /^-\w*R|^--recursive/.test(arg)) ? operandsOf(args).slice(1) : [];
    case "rsync":
      return args.some((arg) => arg.startsWith("--del")) ? operandsOf(args).slice(-1) : [];
    case "find":
      return foundAndDeleted(args);
    default:
      return [];
  }
}

function movedAway(args: string[]): string[] {
  const operands = operandsOf(args);
  const lastIsTarget = operands.length > 1 && !args.some((arg) => /^-\w*t|^--target/.test(arg));
  return lastIsTarget ? operands.slice(0, -1) : operands;
}

function operandsOf(args: string[]): string[] {
  const end = args.indexOf("--");
  const before = end < 0 ? args : args.slice(0, end);
  return [...before.filter((arg) => !arg.startsWith("-")), ...(end < 0 ? [] : args.slice(end + 1))];
}

/** Lists the folders in which `find` deletes without a test that narrows it down, such as a name or an age. */
function foundAndDeleted(args: string[]): string[] {
  const deletes = args.some(
    (arg, index) =>
      arg === "-delete" ||
      (/^-(?:exec|ok)(?:dir)?$/.test(arg) &&
        /(?:^|\/)(?:rm|shred|unlink|sh|bash|mv)$/.test(plain(args[index + 1] ?? ""))),
  );
  if (!deletes) return [];
  const firstFlag = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-[HLPO]/.test(arg));
  const roots = args.slice(0, firstFlag).filter((arg) => !arg.startsWith("-"));
  const tests = args.map((arg, index) => ({
    test: arg,
    value: args[index + 1] ?? "",
    negated: args[index - 1] === "!" || args[index - 1] === "-not",
  }));
  const positive = tests.filter(
    ({ test, negated }) => !negated && /^-(?:i?name|i?path|i?wholename|i?regex)$/.test(test),
  );
  if (positive.some(({ value }) => nameOf(value.replace(/\/[*]$/, "")) === ".git")) return [".git"];
  const named = positive.some(({ value }) => /[^*?./[\]\\]/.test(plain(value)));
  const timed = tests.some(
    ({ test, negated }) =>
      !negated && /^-(?:newer|[acm](?:min|time)|size|empty|user|group|perm|inum)/.test(test),
  );
  const widened = args.some((arg) => arg === "-o" || arg === "-or" || arg === ",");
  if ((named || timed) && !widened) return [];
  return roots.length > 0 ? roots : ["."];
}

/** Returns the reason why deleting this path (perhaps a glob) is refused, or undefined. */
function deniedDeletion(path: string, { home, workspace }: PermissionScope): string | undefined {
  const expression = globExpression(folded(path));
  const folders = [...withAncestors(home), ...systemFolders].map(folded);
  const covered = emptied(folded(path));
  if (folders.some((folder) => expression.test(folder) || covered?.test(folder)))
    return "this would delete the home folder, the root or a system folder";
  if (
    workspace
      .flatMap(withAncestors)
      .map(folded)
      .some((folder) => expression.test(folder))
  )
    return "this would delete the whole workspace with its .git";
  const parts = folded(path).split("/");
  const git = parts.findIndex((part) => canBe(part, ".git"));
  if (git < 0) return undefined;
  const next = parts[git + 1];
  const lost = next === undefined || vital.some((name) => canBe(next, folded(name)));
  return lost ? "this would delete a .git" : undefined;
}

/** Matches the folders that `~/*`, `/.*` and similar globs would empty. */
function emptied(path: string): RegExp | undefined {
  const name = nameOf(path);
  const takesAll = hasGlob(name) && !/[^*?.]/.test(name.replace(/\[[^\]]*\]/g, ""));
  return takesAll ? globExpression(parentOf(path)) : undefined;
}

/** Programs that read the files they are given, or run them. */
const sources = /^(?:source|\.|sed|awk|gawk|less|more|bat|git|sh|bash|zsh|dash|jq)$/;
const copiers = /^(?:cp|mv|ln|install|rsync|scp)$/;

/**
 * Returns the reason why a file that a command writes is refused. Unknown programs are assumed to write every argument.
 */
function refusedTarget({ words, folders }: Candidate, scope: PermissionScope): string | undefined {
  const [program = "", ...args] = words;
  const own = args.map(plain);
  if (program === "git") return gitConfiguration(own);
  const inPlace = /^(?:sed|awk|gawk)$/.test(program) && own.some((arg) => /^-\w*i|^--in-place/.test(arg));
  if (neverWrites(program) || onlyReads(words) || (sources.test(program) && !inPlace)) return undefined;
  const written = copiers.test(program)
    ? destinations(args)
    : args.map((arg) => arg.replace(/^(?:-[^=]*|(?!if=)[a-z]+)=/, ""));
  const certain = copiers.test(program) || /^(?:tee|dd|truncate|rm|touch|sed)$/.test(program);
  const judge: Judge = (path) => {
    const mayBeRead = !certain && scope.readable.some((folder) => isInside(plain(path), folder));
    return mayBeRead ? undefined : refusedWriteTo(path, scope);
  };
  return firstReason(
    folders,
    written.filter((target) => !target.startsWith("if=")),
    judge,
  );
}

/** Lists the possible destinations of a copy: the last operand, and files of the same names inside it. */
function destinations(args: string[]): string[] {
  const operands = operandsOf(args);
  const option = args.findIndex((arg) => arg === "-t" || arg === "--target-directory");
  const last = option < 0 ? operands.at(-1) : args[option + 1];
  if (last === undefined) return [];
  return [
    last,
    ...operands.filter((operand) => operand !== last).map((operand) => `${last}/${nameOf(operand)}`),
  ];
}

function gitConfiguration(args: string[]): string | undefined {
  const key = args.findIndex((arg) =>
    /^core\.(?:hookspath|fsmonitor|sshcommand|editor|pager)$|^alias\./i.test(arg),
  );
  const writes =
    args.includes("config") &&
    key >= 0 &&
    args[key + 1] !== undefined &&
    !args.some((arg) => arg.startsWith("--get"));
  return writes ? "git must not be configured to run other programs" : undefined;
}
