/**
 * Finds settings of a git repository that make a mere `git status` or `git log` run a program: filters, text
 * conversions, monitors, a hook. Reads its files itself; git would run the programs.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { realTarget } from "../disk/real-path.ts";
import { gitlinks, indexedPaths } from "./index-file.ts";

/** Settings that only change how git prints or stores; any other may run a program. */
export const harmless = new RegExp(
  `^(?:${[
    "core\\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|" +
      "safecrlf|quotepath|abbrev|compression|loosecompression|bigfilethreshold|untrackedcache|preloadindex|checkstat|" +
      "trustctime|sharedrepository|longpaths|whitespace|excludesfile|attributesfile|commentchar|sparsecheckout|" +
      "sparsecheckoutcone|splitindex|fscache|protecthfs|protectntfs|hookspath|packedgitlimit|multipackindex|commitgraph)",
    "(?:user|author|committer|branch|advice|color|column|pull|push|init|gc|pack|index|status|rebase|rerere|tag|commit|" +
      "fetch|feature|maintenance|http|https|blame|grep|alias|receive|transfer|gui|versionsort|apply|am|lfs)\\..*",
    "remote\\.(?:.*\\.)?(?:url|fetch|pushurl|push|tagopt|mirror|prune|prunetags|skipdefaultupdate|gh-resolved|pushdefault)",
    "submodule\\.(?:.*\\.)?(?:url|path|active|branch|ignore|shallow|fetchrecursesubmodules|recurse|fetchjobs)",
    "log\\.(?:date|decorate|abbrevcommit|follow|mailmap|showroot|diffmerges)",
    "diff\\.(?:algorithm|renames|renamelimit|colormoved|colormovedws|mnemonicprefix|noprefix|context|interhunkcontext|" +
      "submodule|ignoresubmodules|wserrorhighlight|indentheuristic|statgraphwidth|suppressblankempty|tool|guitool)",
    "merge\\.(?:tool|conflictstyle|ff|log|renames|renamelimit|stat|autostash|directoryrenames)",
    "extensions\\.(?:objectformat|worktreeconfig|refstorage|compatobjectformat|relativeworktrees|noop)",
  ].join("|")})$`,
);

const mostRepositories = 100;

/** Returns the reason why git in `folder` may run a program that the repository's own files name, or undefined. */
export function programsInGit(folder: string): string | undefined {
  const waiting: Repository[] = [];
  try {
    waiting.push(...[repositoryAt(folder) ?? []].flat());
  } catch (error) {
    return `it cannot be looked at (${(error as Error).message})`;
  }
  for (let count = 0; count < waiting.length; count++) {
    const repository = waiting[count];
    if (!repository) break;
    if (count >= mostRepositories) return "it has too many submodules to look at";
    try {
      const why = settingIn(repository) ?? hookIn(repository);
      if (why !== undefined) return why;
      waiting.push(...submodulesOf(repository));
    } catch (error) {
      return `its files cannot be read (${(error as Error).message})`;
    }
  }
  return undefined;
}

/**
 * A repository. `folder`: the part that belongs to this working tree. `common`: the part that all working trees share.
 */
type Repository = { tree: string | undefined; folder: string; common: string };

/** Returns the repository that git would find from `folder` upwards; a bare one counts, wherever it lies. */
function repositoryAt(folder: string): Repository | undefined {
  for (let at = realTarget(resolve(folder)); ; at = dirname(at)) {
    const found = openedAt(at) ?? (isRepository(at) ? withCommon(at, undefined) : undefined);
    if (found || at === dirname(at)) return found;
  }
}

function openedAt(tree: string): Repository | undefined {
  const path = join(tree, ".git");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (stats.isDirectory()) return withCommon(path, tree);
  const [, target] = /^gitdir: (.+?)\s*$/.exec(readFileSync(path, "utf8")) ?? [];
  return target === undefined ? undefined : withCommon(resolve(tree, target), tree);
}

function withCommon(folder: string, tree: string | undefined): Repository {
  const file = join(folder, "commondir");
  const common = existsSync(file) ? resolve(folder, readFileSync(file, "utf8").trim()) : folder;
  return { tree, folder, common };
}

function isRepository(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
}

function settingIn(repository: Repository): string | undefined {
  for (const [name, value] of settingsOf(repository)) {
    const isSwitch = name === "core.fsmonitor" && /^(?:true|false|yes|no|on|off|0|1)$/i.test(value);
    if (!harmless.test(name) && !isSwitch) return `its configuration sets ${name.slice(0, 60)}`;
  }
  return undefined;
}

function settingsOf({ folder, common }: Repository): [name: string, value: string][] {
  const files = [...new Set([join(common, "config"), join(folder, "config.worktree")])];
  return files.filter((file) => existsSync(file)).flatMap((file) => settingsIn(readFileSync(file, "utf8")));
}

/** Parses a file in git's own format: lower-case names, values as far as they are on one line. */
export function settingsIn(text: string): [name: string, value: string][] {
  let section = "";
  const found: [string, string][] = [];
  for (const line of text.replace(/\\\r?\n/g, "").split("\n")) {
    let rest = line.trim();
    for (
      let header = /^\[\s*([\w.-]+)(?:\s*"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest);
      header;
      header = /^\[\s*([\w.-]+)(?:\s*"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest)
    ) {
      section = [header[1], header[2]].filter((part) => part !== undefined).join(".");
      rest = rest.slice(header[0].length).trim();
    }
    if (rest === "" || /^[#;]/.test(rest)) continue;
    const [, name, value = ""] = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest) ?? [];
    // A line that cannot be parsed counts as a setting of that name.
    found.push([`${section}.${name ?? rest}`.toLowerCase(), value.replace(/"|\s*[#;].*$/g, "")]);
  }
  return found;
}

/** Returns the one hook that runs when git only reads, after it updates its index. */
function hookIn(repository: Repository): string | undefined {
  const set = settingsOf(repository).findLast(([name]) => name === "core.hookspath")?.[1];
  const path = set?.replace(/^~\//, `${process.env.HOME ?? ""}/`);
  const folders = [
    join(repository.common, "hooks"),
    ...(path ? [resolve(repository.tree ?? repository.folder, path)] : []),
  ];
  return folders.some((folder) => existsSync(join(folder, "post-index-change")))
    ? "it has the hook post-index-change"
    : undefined;
}

/** Returns the files that git tracks in the repository around a folder, absolute; none where that cannot be told. */
export function trackedFiles(folder: string): string[] {
  try {
    const repository = repositoryAt(folder);
    const { tree } = repository ?? {};
    if (repository === undefined || tree === undefined) return [];
    return indexedPaths(readFileSync(join(repository.folder, "index"))).map((path) => join(tree, path));
  } catch {
    return [];
  }
}

/** Returns the checked-out submodules: git looks into them as well, and their settings are their own. */
function submodulesOf({ tree, folder }: Repository): Repository[] {
  const file = join(folder, "index");
  if (tree === undefined || !existsSync(file)) return [];
  return gitlinks(readFileSync(file)).flatMap((path) => openedAt(join(tree, path)) ?? []);
}
