/** Plans a session's sandbox from the user's rules, the mode, and the state of the machine. Pure. */

import type { PermissionMode } from "../../core/decision.ts";
import type { SandboxPlan } from "../../core/sandbox.ts";
import { startFiles } from "../always-denied.ts";
import type { Rule } from "../parse-rule.ts";
import { hasGlob, isInside, parentOf, withAncestors } from "../paths.ts";
import { coversPath, globsOf } from "../rules.ts";
import { hostRulesOf } from "./hosts.ts";
import { builtInHidden, gitPrograms, isWatched, tokenFiles, watchedNames } from "./protected-paths.ts";

/** A repository in or around a workspace. All paths are real. */
export type Repository = {
  /** The folder with its `.git`. */
  folder: string;
  /** The folders that hold its git data: `.git`, or the two of a linked worktree. */
  gitFolders: string[];
  /** True when git data outside the workspace names this folder as its work tree. */
  vouched: boolean;
  /** Files and folders that its settings lead to: of hooks, and of more settings. */
  named?: readonly string[];
};

/** The state of the machine, as far as a plan depends on it. The functions answer for absolute paths. */
export type Found = {
  kind(path: string): "file" | "folder" | undefined;
  /** Resolves links as far as the path exists. */
  realPath(path: string): string;
  /** Lists the matches of a glob; undefined when there are too many. */
  matches(glob: string): string[] | undefined;
  names(folder: string): string[];
  repositories: readonly Repository[];
  /** Files and folders of Sawtooth and Node. */
  programs: readonly string[];
  /** Sockets of the machine that the sandbox would expose. */
  sockets: readonly string[];
  /** Paths of the sockets that a `socket(…)` rule can name. */
  namedSockets: Readonly<Record<string, readonly string[]>>;
};

export type PlanInput = {
  mode: PermissionMode;
  allow: readonly Rule[];
  deny: readonly Rule[];
  /** Real paths. */
  workspace: readonly string[];
  home: string;
  /** Sawtooth's own configuration and state, and the folder of all sessions. */
  own: readonly string[];
  /** Folders of the session that commands need although `own` is hidden. */
  session: { readable: readonly string[]; writable: readonly string[] };
  found: Found;
};

type Kind = "writable" | "readOnly" | "hidden" | "withoutTokens";
type Entry = { kind: Kind; path: string; why: string };

/** Returns the plan. Missing paths are left out, except the names to watch. */
export function sandboxPlan(input: PlanInput): SandboxPlan {
  const { found, allow, deny } = input;
  const entries = [
    ...writableEntries(input),
    ...readOnlyEntries(input),
    ...hiddenEntries(input),
    ...tokenEntries(input),
  ].flatMap((entry) => existing(entry, found));
  const of = (kind: Kind) => [
    ...new Set(entries.filter((entry) => entry.kind === kind).map(({ path }) => path)),
  ];
  const writable = of("writable");
  const hidden = of("hidden");
  // Elsewhere everything can only be read.
  const readOnly = of("readOnly").filter((path) =>
    [...writable, ...hidden].some((root) => isInside(path, root)),
  );
  const names = (tool: string) =>
    allow.filter((rule) => rule.tool === tool).flatMap(({ pattern = "" }) => pattern);
  const pass = names("socket").flatMap((name) => found.namedSockets[name] ?? [name]);
  return {
    writable,
    readOnly,
    pinned: pinnedFolders(writable, [...readOnly, ...hidden]),
    hidden,
    withoutTokens: of("withoutTokens"),
    watched: input.mode === "plan" ? [] : watchedPaths(input),
    sockets: { mask: found.sockets.filter((path) => !pass.includes(path)), pass },
    hosts: hostRulesOf(allow, deny),
    ports: names("port").map(Number),
    devices: names("device").length > 0 ? gpuDevices(found) : [],
    environment: {
      pass: names("env"),
      drop: deny.filter(({ tool }) => tool === "env").flatMap(({ pattern = "" }) => pattern),
    },
    why: Object.fromEntries(entries.map(({ path, why }) => [path, why])),
  };
}

/** Lists the paths that would be hidden if they existed, absolute. */
export function hiddenLater(input: PlanInput): string[] {
  const all = [...hiddenEntries(input), ...tokenEntries(input)];
  const missing = all.filter(
    ({ kind, path }) =>
      (kind === "hidden" || kind === "withoutTokens") && input.found.kind(path) === undefined,
  );
  return missing.map(({ path }) => path);
}

function existing({ kind, path, why }: Entry, found: Found): Entry[] {
  // Most of them do not exist, and looking for links in such a path costs the most.
  return found.kind(path) === undefined ? [] : [{ kind, path: found.realPath(path), why }];
}

function writableEntries({ mode, allow, workspace, home, session, found }: PlanInput): Entry[] {
  const entry =
    (why: string) =>
    (path: string): Entry => ({ kind: "writable", path, why });
  const own = session.writable.map(entry("a folder of this session"));
  if (mode === "plan") return own;
  const gitData = found.repositories.filter(({ vouched }) => vouched).flatMap(({ gitFolders }) => gitFolders);
  const ruled = allow.flatMap(({ tool, pattern, text }) =>
    tool === "edit" && pattern !== undefined && /^[/~@]/.test(pattern)
      ? globsOf(pattern, workspace, home)
          .flatMap((glob) => rootsOf(glob, found))
          .map(entry(`the rule ${text}`))
      : [],
  );
  return [
    ...workspace.map(entry("the workspace")),
    ...gitData
      .filter((folder) => !workspace.some((root) => isInside(folder, root)))
      .map(entry("the git data of this worktree")),
    ...ruled,
    ...own,
  ];
}

/** Returns the folders that a glob covers whole, or its matches when it ends in a name. */
function rootsOf(glob: string, found: Found): string[] {
  const root = glob.replace(/\/\*\*$/, "");
  return hasGlob(root) ? (found.matches(root) ?? []) : [root];
}

function readOnlyEntries({ deny, workspace, home, session, found }: PlanInput): Entry[] {
  const entry =
    (why: string) =>
    (path: string): Entry => ({ kind: "readOnly", path, why });
  const git = found.repositories.flatMap(({ gitFolders }) =>
    gitFolders.flatMap((folder) => programsOfGit(folder, found)),
  );
  const named = namedPaths(found);
  const tops = [...workspace, ...found.repositories.map(({ folder }) => folder)];
  const watched = [...new Set(tops)].flatMap((top) =>
    found
      .names(top)
      .filter(isWatched)
      .map((name) => `${top}/${name}`),
  );
  const denied = deny.flatMap(({ tool, pattern, text }) =>
    tool === "edit" && pattern !== undefined
      ? globsOf(pattern, workspace, home)
          .flatMap((glob) => rootsOf(glob, found))
          .map(entry(`the rule ${text}`))
      : [],
  );
  return [
    ...git.map(entry("built in: it can name programs that run outside")),
    ...named.map(entry("built in: the settings of git lead to it")),
    ...watched.map(entry("built in: other programs run it")),
    ...startFiles
      .filter((name) => name !== ".ssh")
      .map((name) => entry("built in: it is read when a shell or git starts")(`${home}/${name}`)),
    ...found.programs.map(entry("built in: Sawtooth runs it")),
    ...session.readable.map(entry("a folder of this session")),
    ...denied,
  ];
}

/** Lists the entries of a git folder, of its submodules and of its working trees, that name programs. */
function programsOfGit(folder: string, found: Found): string[] {
  return gitFoldersIn(folder, found).flatMap((one) => gitPrograms.map((name) => `${one}/${name}`));
}

/** A submodule is named by its path, so its data can lie this deep. */
const mostParts = 5;

/** Lists a git folder and those in it: of submodules, and of theirs, and of linked working trees. */
function gitFoldersIn(folder: string, found: Found): string[] {
  const modules = foldersWithHead(`${folder}/modules`, found, mostParts);
  const trees = found.names(`${folder}/worktrees`).map((name) => `${folder}/worktrees/${name}`);
  return [folder, ...modules.flatMap((one) => gitFoldersIn(one, found)), ...trees];
}

function foldersWithHead(folder: string, found: Found, parts: number): string[] {
  return found.names(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (found.kind(path) !== "folder") return [];
    if (found.kind(`${path}/HEAD`) !== undefined) return [path];
    return parts > 1 ? foldersWithHead(path, found, parts - 1) : [];
  });
}

function hiddenEntries(input: PlanInput): Entry[] {
  const { allow, deny, workspace, home, own, found } = input;
  const builtIn = builtInHidden(home).filter(({ path }) => !isShown(input, path));
  const exceptions = builtIn.flatMap(({ path, except, why }) =>
    found.kind(path) === undefined ? [] : except.map((one): Entry => ({ kind: "readOnly", path: one, why })),
  );
  const matching = (rules: readonly Rule[], kind: Kind): Entry[] =>
    rules.flatMap(({ tool, pattern, text }) =>
      tool === "read" && pattern !== undefined
        ? globsOf(pattern, workspace, home)
            .flatMap((glob) => rootsOf(glob, found))
            .map((path) => ({ kind, path, why: `the rule ${text}` }))
        : [],
    );
  const inHidden = ({ path }: Entry) => builtIn.some((one) => path !== one.path && isInside(path, one.path));
  return [
    ...builtIn.map(({ path, why }): Entry => ({ kind: "hidden", path, why })),
    ...exceptions,
    ...matching(allow, "readOnly").filter(inHidden),
    ...matching(deny, "hidden"),
    ...own.map((path): Entry => ({ kind: "hidden", path, why: "built in: Sawtooth's own files" })),
  ];
}

/** Returns true when a rule makes a path readable with all its contents. */
function isShown({ allow, workspace, home }: PlanInput, path: string): boolean {
  return allow.some(
    (rule) =>
      rule.tool === "read" &&
      rule.pattern !== undefined &&
      [path, `${path}/folder/file`].some((one) => coversPath(rule, one, [...workspace], home)),
  );
}

function tokenEntries(input: PlanInput): Entry[] {
  return tokenFiles
    .map((name) => `${input.home}/${name}`)
    .filter((path) => !isShown(input, path))
    .map((path): Entry => ({ kind: "withoutTokens", path, why: "built in: shown without its tokens" }));
}

/** Returns the folders between a writable root and a closed path, which must not be renamed either. */
function pinnedFolders(writable: readonly string[], closed: readonly string[]): string[] {
  const between = closed.flatMap((path) => {
    const root = writable.find((one) => path !== one && isInside(path, one));
    return root === undefined
      ? []
      : withAncestors(parentOf(path)).filter((folder) => folder !== root && isInside(folder, root));
  });
  return [...new Set(between)].filter((path) => !closed.includes(path) && !writable.includes(path));
}

/** Lists what the settings of repositories lead to, but for a folder around what is worked in. */
function namedPaths({ repositories }: Found): string[] {
  return repositories.flatMap(({ folder, named = [] }) => named.filter((path) => !isInside(folder, path)));
}

function watchedPaths({ workspace, found }: PlanInput): string[] {
  const tops = [...new Set([...workspace, ...found.repositories.map(({ folder }) => folder)])];
  const git = found.repositories.flatMap(({ gitFolders }) =>
    gitFolders.flatMap((folder) => programsOfGit(folder, found)),
  );
  const names = tops.flatMap((top) => watchedNames.map((name) => `${top}/${name}`));
  const named = namedPaths(found).filter((path) => workspace.some((root) => isInside(path, root)));
  return [...names, ...git, ...named].filter((path) => found.kind(path) === undefined);
}

function gpuDevices(found: Found): string[] {
  return ["/dev/dri", ...(found.matches("/dev/nvidia*") ?? [])].filter(
    (path) => found.kind(path) !== undefined,
  );
}

/** Protection of a path, by the deepest entry that covers it. `open`: no entry does, so it can only be read. */
export type Protection = "writable" | "readOnly" | "hidden" | "open";

/** Returns how the plan treats a real, absolute path. */
export function protectionOf(plan: SandboxPlan, path: string): Protection {
  const covering = (paths: readonly string[]) =>
    Math.max(-1, ...paths.filter((one) => isInside(path, one)).map((one) => one.length));
  const hidden = covering([...plan.hidden, ...plan.withoutTokens]);
  const readOnly = covering(plan.readOnly);
  const writable = covering(plan.writable);
  const deepest = Math.max(hidden, readOnly, writable);
  if (deepest < 0) return "open";
  if (hidden === deepest) return "hidden";
  return readOnly === deepest ? "readOnly" : "writable";
}
