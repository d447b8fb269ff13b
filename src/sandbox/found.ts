/** Finds what a plan depends on: nested repositories, sockets of the machine, programs, and what paths are. */

import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { realTarget } from "../disk/real-path.ts";
import { canBe, hasGlob, isInside, plain } from "../permissions/paths.ts";
import type { Found, Repository } from "../permissions/sandbox/plan.ts";
import { boundSockets, pathsOf } from "./late-sockets.ts";
import { skippedFolders } from "./new-repositories.ts";

/** Nested repositories are looked for this deep, in this many folders, and so many are protected. */
const limits = { depth: 4, folders: 4_000, repositories: 60, names: 2_000 };
export type Look = {
  workspace: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  /** Lists the paths that the settings in a git folder lead to, by it and the folder of its files. */
  namedByGit?: ((data: string, tree: string, home: string) => string[]) | undefined;
};
/** `more`: repositories that were found beyond the limit. */
export type Findings = Found & { more: number };

/** Looks at the machine. `programs`: files and folders of Sawtooth and Node. */
export function lookAround(
  { workspace, env, home, namedByGit }: Look,
  programs: readonly string[],
): Findings {
  const around = workspace.flatMap((folder) => enclosing(folder) ?? []);
  const nested = workspace.flatMap(nestedRepositories);
  const all = [...new Map([...around, ...nested].map((one) => [one.folder, one])).values()];
  return {
    kind: kindOf,
    realPath: (path) => safely(() => realTarget(path)) ?? path,
    matches: namesMatching,
    names: (folder) => entriesOf(folder).map(({ name }) => name),
    repositories: all.slice(0, limits.repositories).map((one) => ({
      ...one,
      named: one.gitFolders.flatMap((data) => namedByGit?.(data, one.folder, home) ?? []),
    })),
    more: Math.max(0, all.length - limits.repositories),
    programs,
    sockets: socketsOfMachine(),
    namedSockets: namedSockets(env, home),
  };
}

/** Tells a folder from a file, links followed; undefined when there is nothing or it cannot be reached. */
export function kindOf(path: string): "file" | "folder" | undefined {
  const stat = safely(() => statSync(path, { throwIfNoEntry: false }));
  return stat && (stat.isDirectory() ? "folder" : "file");
}

/** Returns the repository that a folder lies in, with its data in the folder or above it. */
function enclosing(folder: string): Repository | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const repository = repositoryAt(at);
    if (repository || dirname(at) === at) return repository;
  }
}

function nestedRepositories(root: string): Repository[] {
  const found: Repository[] = [];
  let level = [root];
  let looked = 0;
  for (let depth = 0; depth < limits.depth && level.length > 0; depth++) {
    level = level.flatMap((folder) => {
      looked += 1;
      if (looked > limits.folders) return [];
      return entriesOf(folder)
        .filter((entry) => entry.isDirectory() && !skippedFolders.has(entry.name))
        .map(({ name }) => join(folder, name));
    });
    found.push(...level.flatMap((folder) => repositoryAt(folder) ?? []));
  }
  return found;
}

/** Reads a `.git` folder, or the file of a linked worktree, whose data must name it in turn. */
function repositoryAt(folder: string): Repository | undefined {
  const git = join(folder, ".git");
  const kind = kindOf(git);
  if (kind === undefined) return undefined;
  const real = safely(() => realTarget(git)) ?? git;
  if (kind === "folder") return { folder, gitFolders: [real], vouched: isInside(real, folder) };
  const named = /^gitdir: (.+?)\s*$/.exec(textOf(git))?.[1];
  if (named === undefined) return undefined;
  const data = safely(() => realTarget(resolve(folder, named)));
  if (data === undefined || kindOf(data) !== "folder") return undefined;
  const common = textOf(join(data, "commondir")).trim();
  const shared = common === "" ? [] : [safely(() => realTarget(resolve(data, common))) ?? ""].filter(Boolean);
  const back = textOf(join(data, "gitdir")).trim();
  // A submodule's data names its folder in its configuration instead, and lies in the repository above.
  const vouched = back !== "" && safely(() => realTarget(dirname(resolve(data, back)))) === folder;
  return {
    folder,
    gitFolders: [data, ...shared],
    vouched: vouched && shared.every((one) => isInside(data, one)),
  };
}

/** Lists sockets that are bound to a path. */
function socketsOfMachine(): string[] {
  return pathsOf(boundSockets()).filter((path) => safely(() => statSync(path).isSocket()) ?? false);
}

function namedSockets(env: Look["env"], home: string): Record<string, string[]> {
  const runtime = env.XDG_RUNTIME_DIR;
  const gpg = [`${home}/.gnupg`, ...(runtime ? [`${runtime}/gnupg`] : [])].map((folder) =>
    join(folder, "S.gpg-agent"),
  );
  const existing = (paths: readonly (string | undefined)[]) =>
    paths.filter((path): path is string => path !== undefined && kindOf(path) === "file");
  return {
    "ssh-agent": existing([env.SSH_AUTH_SOCK]),
    "gpg-agent": existing(gpg),
    docker: existing([env.DOCKER_HOST?.replace(/^unix:\/\//, ""), "/run/docker.sock"]),
  };
}

/** Lists what an absolute glob matches; undefined when that is too much. `**` looks into every folder. */
function namesMatching(glob: string): string[] | undefined {
  let paths = ["/"];
  for (const part of glob.split("/").filter(Boolean)) {
    if (part === "**") paths = paths.flatMap((path) => [path, ...foldersBelow(path)]);
    else if (!hasGlob(part)) paths = paths.map((path) => join(path, plain(part)));
    else
      paths = paths.flatMap((path) =>
        entriesOf(path)
          .filter(({ name }) => canBe(part, name))
          .map(({ name }) => join(path, name)),
      );
    if (paths.length > limits.names) return undefined;
  }
  return paths.filter((path) => kindOf(path) !== undefined);
}

function foldersBelow(root: string): string[] {
  const found: string[] = [];
  const waiting = [root];
  for (let at = waiting.pop(); at !== undefined && found.length <= limits.names; at = waiting.pop()) {
    const folder = at;
    const below = entriesOf(folder)
      .filter((entry) => entry.isDirectory() && !skippedFolders.has(entry.name))
      .map(({ name }) => join(folder, name));
    found.push(...below);
    waiting.push(...below);
  }
  return found;
}

/** The parts of this program that run, for people who work on the program itself. */
const ownParts = ["bin", "dist", "prompts", "node_modules/@lydell"];

/**
 * Returns the files and folders of this program and of Node, by the path of its main file. Where a workspace holds the
 * program as its project, only the parts that run.
 */
export function ownPrograms(main: string | undefined, workspace: readonly string[]): string[] {
  const script = main === undefined ? undefined : safely(() => realTarget(main));
  const node = safely(() => realTarget(process.execPath));
  const folder = script && packageOf(script);
  const isProject = folder !== undefined && workspace.some((root) => isInside(root, folder));
  const own = folder === undefined ? [] : isProject ? ownParts.map((part) => join(folder, part)) : [folder];
  return [...own, ...(node ? [node] : [])];
}

function packageOf(script: string): string {
  for (let at = dirname(script); dirname(at) !== at; at = dirname(at))
    if (basename(dirname(at)) === "node_modules" || kindOf(join(at, "package.json")) === "file") return at;
  return dirname(script);
}

function entriesOf(folder: string): Dirent[] {
  return safely(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** Reads a small file; empty when it cannot be read. */
function textOf(path: string, most = 64 * 1024): string {
  return safely(() => readFileSync(path, "utf8").slice(0, most)) ?? "";
}

function safely<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
