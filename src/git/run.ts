/**
 * The one place that starts git: an environment without secrets, and settings that prevent the repository's
 * configuration, hooks and attributes from running programs.
 */

import { execFile } from "node:child_process";
import { type Environment, withoutSecrets } from "../core/secrets/secrets.ts";
import { filterSettings, foreignSettings, type Setting, settingsFrom } from "./local-settings.ts";

/** Thrown when a git command failed; the message is git's own. */
export class GitError extends Error {
  override readonly name = "GitError";
}

/** The repository, index and objects to use, as git's own variables: GIT_DIR, GIT_INDEX_FILE and so on. */
export type Repository = Readonly<Record<string, string>>;

export type GitOptions = {
  repository?: Repository;
  /** latin1 preserves bytes, one character each. Default: utf8. */
  encoding?: "utf8" | "latin1";
  signal?: AbortSignal;
  /** Milliseconds; by default git may take as long as it needs. */
  timeoutMs?: number;
};

/** Runs git and returns its output. `input`: its standard input. Throws `GitError`. */
export type Git = (words: readonly string[], input?: string) => Promise<string>;

/** Settings that override those of the repository, the user and the system. */
const settings = [
  "safe.directory=*",
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.hooksPath=/dev/null",
  "core.quotePath=false",
  "core.pager=cat",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "log.showSignature=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "status.submoduleSummary=false",
  "protocol.ext.allow=never",
  "advice.addEmbeddedRepo=false",
].flatMap((setting) => ["-c", setting]);

/** Variables that would make git use another repository than the intended one; they are set when a hook starts us. */
const leading =
  /^GIT_(?:DIR|WORK_TREE|IMPLICIT_WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|PREFIX|SHALLOW_FILE|GRAFT_FILE|NAMESPACE|EXTERNAL_DIFF|LITERAL_PATHSPECS|GLOB_PATHSPECS|NOGLOB_PATHSPECS|ICASE_PATHSPECS)$/;

const fixed = {
  LC_ALL: "C",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "false",
  GIT_PAGER: "cat",
  // A repository that lacks objects would fetch them with the programs that it names.
  GIT_NO_LAZY_FETCH: "1",
};

/**
 * Commands that neither convert files nor reach another machine, so no filter can run. Commands that write an index are
 * excluded, even `write-tree`: git then compares the files whose times are too recent.
 */
const plain =
  /^(?:rev-parse|cat-file|ls-tree|update-ref|symbolic-ref|commit-tree|check-ref-format|check-attr|config|init)$/;
const reaching = /^(?:fetch|clone|pull|push|ls-remote|submodule)$/;

const mostBytes = 512 * 1024 * 1024;

/**
 * Creates a runner for git in a folder. Filters that the repository's own configuration names are off; a command that
 * reaches another machine is refused in a repository with more configuration than `git init` writes.
 */
export function gitIn(folder: string, env: Environment, options: GitOptions = {}): Git {
  const invocation = { folder, env: gitEnvironment(env, options.repository), options };
  return (words, input) => run(invocation, () => localSettings(invocation), words, input);
}

/**
 * Creates a runner for commands that follow each other at once: the configuration is listed once, now. `filters`: the
 * names of the repository's own, which are off. Throws `GitError`.
 */
export async function gitAtOnce(folder: string, env: Environment, options: GitOptions = {}) {
  const invocation = { folder, env: gitEnvironment(env, options.repository), options };
  const own = await localSettings(invocation);
  const git: Git = (words, input) => run(invocation, async () => own, words, input);
  const names = filterSettings(own).map(({ key }) => key.slice("filter.".length, key.lastIndexOf(".")));
  return { git, filters: [...new Set(names)] };
}

async function run(
  invocation: Invocation,
  settingsNow: () => Promise<Setting[]>,
  words: readonly string[],
  input?: string,
): Promise<string> {
  const command = commandOf(words);
  if (plain.test(command) || isListOfNames(words)) return start(invocation, words, input);
  const own = await settingsNow();
  const foreign = reaching.test(command) ? foreignSettings(own)[0] : undefined;
  if (foreign) throw new GitError(`git ${command} was not run: its configuration sets ${foreign.key}`);
  const filters = filterSettings(own);
  return start({ ...invocation, env: withSettings(invocation.env, filters) }, words, input);
}

type Invocation = { folder: string; env: Record<string, string>; options: GitOptions };

/**
 * Lists the settings with git itself, so that includes and quotes mean what they mean to it. Throws when a file cannot
 * be read.
 */
async function localSettings(invocation: Invocation): Promise<Setting[]> {
  const latin1 = { ...invocation, options: { ...invocation.options, encoding: "latin1" as const } };
  const text = await start(latin1, ["config", "--list", "-z", "--show-scope"]);
  return settingsFrom(text);
}

function gitEnvironment(env: Environment, repository: Repository = {}): Record<string, string> {
  const environment = Object.entries(withoutSecrets(env)).filter(([name]) => !leading.test(name));
  const own = Object.fromEntries(environment);
  // A setting whose secret value was removed from the environment is gone, and git fails where one that it counts is
  // missing.
  const whole = withSettings(own, []);
  return { ...whole, ...fixed, ...repository };
}

/** Returns `env` with more settings appended in git's own way. Any section name is possible here. */
function withSettings(env: Record<string, string>, more: readonly Setting[]): Record<string, string> {
  const count = /^\d{1,4}$/.test(env.GIT_CONFIG_COUNT ?? "") ? Number(env.GIT_CONFIG_COUNT) : 0;
  const had = Array.from({ length: count }, (_, index) => {
    const [key, value] = [env[`GIT_CONFIG_KEY_${index}`], env[`GIT_CONFIG_VALUE_${index}`]];
    return key === undefined || value === undefined ? [] : [{ key, value }];
  }).flat();
  const all = [...had, ...more];
  const others = Object.entries(env).filter(
    ([name]) => !/^GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+)$/.test(name),
  );
  const variables = all.flatMap(({ key, value }, index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return Object.fromEntries([...others, ...variables, ["GIT_CONFIG_COUNT", String(all.length)]]);
}

/** Returns the word after git's own options. */
function commandOf(words: readonly string[]): string {
  const at = words.findIndex((word, index) => !word.startsWith("-") && words[index - 1] !== "-c");
  return words[at] ?? "";
}

/** Returns true for lists that only print names and ids; the others compare files, and so convert them. */
function isListOfNames(words: readonly string[]): boolean {
  const command = commandOf(words);
  if (command === "diff-tree") return words.includes("--raw");
  return command === "ls-files" && !words.some((word) => /^(?:-m|--modified|--eol)$/.test(word));
}

function start({ folder, env, options }: Invocation, words: readonly string[], input = ""): Promise<string> {
  const { encoding = "utf8", signal, timeoutMs = 0 } = options;
  const limits = { cwd: folder, env, encoding, signal, timeout: timeoutMs, maxBuffer: mostBytes };
  return new Promise((done, fail) => {
    const child = execFile("git", [...settings, ...words], limits, (error, stdout, stderr) => {
      if (!error) done(stdout);
      else if ((error as NodeJS.ErrnoException).code === "ENOENT") fail(new GitError("git is not installed"));
      else fail(new GitError(`git ${commandOf(words)}: ${stderr.trim() || error.message}`));
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input, encoding);
  });
}
