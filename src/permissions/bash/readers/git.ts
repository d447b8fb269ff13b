/** Reads git commands: the paths they read, and how they may make git run other programs. Pure. */

import { resolvePath } from "../../paths.ts";
import { nothing, type Reading } from "./reading.ts";

type Judge = (args: readonly string[]) => boolean;

const always: Judge = () => true;

/** Accepts arguments without any of the flags, also where long ones are abbreviated or short ones are clustered. */
function without(...flags: string[]): Judge {
  return (args) => !args.some((arg) => flags.some((flag) => isFlag(arg, flag)));
}

function isFlag(arg: string, flag: string): boolean {
  const name = arg.split("=")[0] ?? "";
  if (flag.startsWith("--")) return name.length > 3 && flag.startsWith(name);
  return arg.startsWith("-") && !arg.startsWith("--") && name.includes(flag.charAt(1));
}

/** Flags that run programs or write files, wherever they stand. Checking a signature runs another program. */
const gitFlags = without(
  ...["--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--upload-pack", "--receive-pack"],
  ...["--exec-path", "--config-env", "--filters", "--exec", "--help", "--show-signature", "--paginate"],
);
/** Format placeholders that make git check a signature. */
const signature = /%G|%\(signature/;

const reading: Record<string, Judge> = {
  ...Object.fromEntries(
    (
      "status log diff show blame ls-files ls-tree rev-parse describe shortlog cat-file merge-base name-rev " +
      "rev-list diff-tree for-each-ref check-ignore count-objects show-ref version"
    )
      .split(" ")
      .map((name) => [name, always]),
  ),
  branch: (args) =>
    args.every((arg) =>
      /^(?:--list|--all|-a|-r|-v|-vv|-av|-avv|-rv|--show-current|--remotes|--no-color|--sort=[\w:-]+)$/.test(
        arg,
      ),
    ),
  config: readsConfig,
  grep: without("-O"),
  reflog: (args) => args.length === 0 || args[0] === "show",
  remote: (args) =>
    args.length === 0 ||
    (args.length === 1 && /^(?:-v|--verbose)$/.test(args[0] ?? "")) ||
    (args[0] === "get-url" && args.length === 2),
  stash: (args) => args[0] === "list" || args[0] === "show",
  tag: (args) =>
    args.length === 0 ||
    (/^(?:-l|--list)$/.test(args[0] ?? "") &&
      args.every((arg) => /^(?:-l|--list|-n\d*|--sort=.+|[^-].*)$/.test(arg))),
  worktree: (args) => args[0] === "list" && args.every((arg) => /^(?:list|--porcelain|-v|-z)$/.test(arg)),
};
const contents = /^(?:log|diff|show|blame|cat-file|diff-tree|grep|stash)$/;

function readsConfig(args: readonly string[]): boolean {
  return (
    /^(?:--get|--get-all|--get-regexp|--list|-l|list|get)$/.test(args[0] ?? "") &&
    args
      .slice(1)
      .every((arg) =>
        /^(?:[^-].*|--(?:global|local|system|worktree|show-origin|show-scope|name-only|null|includes|all)|--(?:type|file|default)=.*|-[zf])$/.test(
          arg,
        ),
      )
  );
}

/** Returns the arguments before git's subcommand: flags, and the values of those that take one. */
export function gitGlobals(args: readonly string[]): readonly string[] {
  let count = 0;
  while (args[count]?.startsWith("-")) {
    count +=
      /^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path|--super-prefix|--attr-source)$/.test(
        args[count] ?? "",
      )
        ? 2
        : 1;
  }
  return args.slice(0, count);
}

/**
 * Returns the folder in which git works: the current one, or the one that `-C` names. `args` does not include `git`.
 */
export function gitFolder(args: readonly string[], folder: string): string {
  return gitGlobals(args).reduce(
    (at, arg, index, all) => (all[index - 1] === "-C" ? resolvePath(at, arg) : at),
    folder,
  );
}

/**
 * Returns the paths a git command reads. `args` does not include `git`. Words that may be a branch or a path count as
 * paths.
 */
export function gitReading(args: readonly string[]): Reading | undefined {
  if (args.length === 1 && args[0] === "--version") return { ...nothing, wordsOnly: true };
  const globals = gitGlobals(args);
  const [subcommand = "", ...rest] = args.slice(globals.length);
  const reads = Object.hasOwn(reading, subcommand) ? reading[subcommand] : undefined;
  const known = globals.every((arg) => /^(?:--no-pager|--no-optional-locks|-C|[^-].*)$/.test(arg));
  if (!known || !gitFlags(rest) || rest.some((arg) => signature.test(arg)) || !reads?.(rest))
    return undefined;
  const paths = [...globals, ...rest].flatMap(pathIn);
  if (!contents.test(subcommand)) return { ...nothing, names: paths };
  const inTrees = rest.flatMap((arg) => (arg.startsWith("-") ? [] : (/:(.+)$/.exec(arg)?.[1] ?? [])));
  return { ...nothing, contents: [...paths, ...inTrees] };
}

/** Returns the path attached to a flag: `--file=x`, `-f../x` and `-f/x`. */
function pathIn(arg: string): string[] {
  if (!arg.startsWith("-")) return [arg];
  return [/=(.+)/.exec(arg)?.[1] ?? /(?:\.\.\/|\/).*/.exec(arg)?.[0] ?? []].flat();
}

/**
 * Returns true when a command under a rule such as `git commit:*` does more than the rule can have meant. `args` does
 * not include `git`.
 */
export function gitExceedsRule(args: readonly string[]): boolean {
  const globals = gitGlobals(args);
  const [subcommand, ...rest] = args.slice(globals.length);
  const pager = subcommand === "grep" && !without("-O")(rest);
  const files =
    (subcommand === "commit" && !without("-F", "-t", "--file", "--template")(beforeMessage(rest))) ||
    (subcommand === "add" && !without("--pathspec-from-file")(rest));
  return (
    pager ||
    files ||
    !gitFlags(rest) ||
    globals.some((arg) => /^-(?:c|-git-dir|-work-tree|-config-env|-exec-path)/.test(arg))
  );
}

/** Returns the flags of a commit without the letters of a message attached to its flag: `-mFix`. */
function beforeMessage(args: readonly string[]): string[] {
  return args
    .filter((_, index) => !/^-\w*m$|^--message$/.test(args[index - 1] ?? ""))
    .map((arg) => (arg.startsWith("--") ? arg : arg.replace(/^(-\w*?m).*$/s, "$1")));
}

/**
 * Settings that only change what git prints or stores, or its aliases for remotes; any other may make it run a program.
 */
const harmless =
  /^(?:(?:user|author|committer)\.(?:name|email|signingkey|useconfigonly)|init\.defaultbranch|core\.(?:autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|abbrev|longpaths|symlinks|precomposeunicode|whitespace|compression|untrackedcache|commentchar)|(?:color|column|advice|status|pack|index|feature|rerere|log)\..+|gc\.(?:auto|autodetach|pruneexpire)|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.(?:prune|prunetags|parallel)|branch\..+\.(?:remote|merge|rebase|description)|branch\.(?:autosetuprebase|autosetupmerge|sort)|merge\.(?:conflictstyle|ff|stat|renamelimit)|rebase\.(?:autosquash|autostash|updaterefs|stat)|diff\.(?:algorithm|renames|renamelimit|colormoved|colormovedws|mnemonicprefix|noprefix|context|submodule|indentheuristic)|commit\.(?:verbose|gpgsign)|tag\.(?:sort|gpgsign)|remote\..+\.(?:url|fetch|pushurl|prune|tagopt)|safe\.barerepository|protocol\.version|http\.(?:postbuffer|lowspeedlimit|lowspeedtime))$/i;
/** Values with which a setting that names a program is harmless. */
const harmlessValue = /^(?:|cat|true|:|less|false|0|1)$/;
const programSetting = /^(?:core\.(?:pager|editor|fsmonitor)|pager\..+|sequence\.editor)$/i;
const harmlessVariables =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT|LITERAL_PATHSPECS|ADVICE|FLUSH|CEILING_DIRECTORIES|CONFIG_NOSYSTEM|PAGER_IN_USE)$/;
const programVariables = /^GIT_(?:PAGER|EDITOR|SEQUENCE_EDITOR|ASKPASS)$/;

/**
 * Returns the reason why this git command makes git run a program, now or later, through a setting, a template or a
 * flag. `args` does not include `git`.
 */
export function gitRunsPrograms(args: readonly string[]): string | undefined {
  const globals = gitGlobals(args);
  const [subcommand, ...rest] = args.slice(globals.length);
  const set = settingsIn(globals, /^-c$/, /^-c(.+)/s).find((setting) => !isHarmless(setting));
  if (set !== undefined) return `git -c ${keyOf(set)} may run a program`;
  const flag = globals.find((arg) => /^--(?:config-env|exec-path=)/.test(arg));
  if (flag !== undefined) return `git ${keyOf(flag)} may run a program`;
  if (subcommand === "config") return configSets(rest);
  if (subcommand !== "init" && subcommand !== "clone") return undefined;
  if (!without("--template")(rest)) return "hooks of a template would be put into the repository";
  return subcommand === "clone" ? cloneRuns(rest) : undefined;
}

function cloneRuns(args: readonly string[]): string | undefined {
  const set = settingsIn(args, /^(?:-c|--config)$/, /^(?:--config=|-c)(.+)/s).find(
    (setting) => !isHarmless(setting),
  );
  if (set !== undefined) return `git clone -c ${keyOf(set)} may run a program`;
  return without("--upload-pack", "-u")(args) ? undefined : "git clone --upload-pack runs a program";
}

/** Returns the settings that flags give, as the next argument or attached to the flag. */
function settingsIn(args: readonly string[], apart: RegExp, hanging: RegExp): string[] {
  return args.flatMap((arg, index) =>
    apart.test(args[index - 1] ?? "") ? [arg] : (hanging.exec(arg)?.[1] ?? []),
  );
}

function keyOf(setting: string): string {
  return (setting.split("=")[0] ?? "").slice(0, 60);
}

function isHarmless(setting: string): boolean {
  const [, key = "", value = "true"] = /^([^=]*)(?:=([\s\S]*))?$/.exec(setting) ?? [];
  return harmless.test(key) || (programSetting.test(key) && harmlessValue.test(value));
}

function configSets(args: readonly string[]): string | undefined {
  if (readsConfig(args)) return undefined;
  if (args.some((arg) => /^(?:-e|--edit|edit|--rename-section|rename-section)$/.test(arg)))
    return "the configuration of git would be changed";
  if (args.some((arg) => /^--(?:unset|unset-all|remove-section)$|^(?:unset|remove-section)$/.test(arg)))
    return undefined;
  const at = args.findIndex((arg) => /^[A-Za-z][\w-]*\.[\s\S]+$/.test(arg));
  const key = args[at];
  if (key === undefined) return "the configuration of git would be changed";
  const value = args[at + 1];
  if (value === undefined || isHarmless(`${key}=${value}`)) return undefined;
  return `the setting ${key.slice(0, 60)} may make git run a program`;
}

/** Returns the reason why `NAME=value` in front of a command may make git run a program. */
export function gitVariableRuns(assignment: string): string | undefined {
  const [, name = "", value = ""] = /^(GIT_\w+)\+?=([\s\S]*)$/.exec(assignment) ?? [];
  if (name === "" || harmlessVariables.test(name)) return undefined;
  // Any other value writes the trace to a file.
  if (/^GIT_TRACE/.test(name) && /^(?:[012]|true|false)?$/.test(value)) return undefined;
  if (programVariables.test(name) && harmlessValue.test(value)) return undefined;
  return `${name} may make git run a program`;
}
