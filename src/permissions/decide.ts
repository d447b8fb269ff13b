/** Decides whether a call may run, from the mode, the user's rules and the hard refusals. Pure. */

import type { PermissionMode } from "../core/decision.ts";
import type { Access } from "../core/ports.ts";
import type { ParseShell } from "../core/shell-tree.ts";
import type { PermissionScope } from "./always-denied.ts";
import { decideCommand } from "./commands.ts";
import { byMode, byRule } from "./decision.ts";
import { decidePaths } from "./files.ts";
import { resolvePath } from "./paths.ts";
import { parseRule, type Rule } from "./rules.ts";

export type { PermissionMode } from "../core/decision.ts";
export { parseRule } from "./rules.ts";

export type PermissionInput = {
  mode: PermissionMode;
  /** Rules in the syntax of `parseRule`, which throws a `RuleError` for an invalid one. */
  allow: string[];
  /** Allow rules that the user gave for every folder. They do not apply to git where a repository names programs. */
  allowEverywhere?: string[];
  deny: string[];
  toolName: string;
  access: Access;
  /** Real paths; the first is where the agent works. */
  workspace: string[];
  home: string;
  /** Sawtooth's own configuration and state: never written. */
  protectedPaths: string[];
  /** The session's own folder: its files are free to read. */
  readable?: string[];
  /** The shell's working folder; the first workspace when unknown. */
  cwd?: string;
  /** The grammar of bash. Without it only commands made of plain words count as certain. */
  parse?: ParseShell | undefined;
  /** Returns the absolute path with links resolved, as far as it exists. Without it links are not followed. */
  realPath?: ((path: string) => string) | undefined;
  /**
   * Returns the absolute paths that an absolute glob matches; undefined when there are too many. Without it a glob is
   * one name.
   */
  matches?: ((glob: string) => string[] | undefined) | undefined;
  /** Looks below an absolute folder. Without it nothing there is assumed to lead elsewhere. */
  survey?: ((folder: string) => FolderSurvey) | undefined;
  /** Returns the reason why git in an absolute folder may run a program that the repository names, or undefined. */
  programsInGit?: ((folder: string) => string | undefined) | undefined;
};

/**
 * Sentences for people: a link that leads out of the folder, and a name that `xargs` would split or take for an option.
 */
export type FolderSurvey = { link?: string; oddName?: string };

export type PermissionDecision = {
  decision: "allow" | "deny" | "ask";
  /** The rule's text, the mode's name, or `refused always`. */
  rule: string;
  by: "mode" | "rule" | "always";
  /** A sentence for the model and the user. */
  reason: string;
  /** The `--allow` rule that would let it through. */
  suggestion?: string;
};

/** A permission query with its rules parsed. */
export type PermissionQuery = PermissionScope & {
  mode: PermissionMode;
  toolName: string;
  cwd: string;
  allow: Rule[];
  /** The rules of `allow` that were given for every folder. */
  general: Rule[];
  deny: Rule[];
} & Pick<PermissionInput, "parse" | "programsInGit" | "matches" | "survey">;

/** Decides a call: hard refusals beat deny rules, which beat allow rules, which beat the mode. */
export function decidePermission(input: PermissionInput): PermissionDecision {
  const { access, workspace } = input;
  const general = (input.allowEverywhere ?? []).map(parseRule);
  const query: PermissionQuery = {
    ...input,
    allow: [...input.allow.map(parseRule), ...general],
    general,
    realPath: safely(input.realPath),
    programsInGit: memoized(input.programsInGit),
    matches: memoized(input.matches),
    survey: memoized(input.survey),
    deny: input.deny.map(parseRule),
    home: resolvePath("/", input.home),
    readable: input.readable ?? [],
    cwd: input.cwd ?? workspace[0] ?? "/",
  };
  switch (access.kind) {
    case "read":
    case "write":
      return decidePaths(query, access.kind, access.paths);
    case "execute":
      return decideCommand(query, access);
    case "session": {
      const denied = query.deny.find((rule) => rule.tool === query.toolName);
      return denied
        ? byRule("deny", denied)
        : byMode(query, "allow", "It only touches the session's own state.");
    }
  }
}

/** Remembers an answer, which reads files, for the length of one decision. */
function memoized<Answer>(
  ask: ((about: string) => Answer) | undefined,
): ((about: string) => Answer) | undefined {
  if (!ask) return undefined;
  const answers = new Map<string, { answer: Answer }>();
  return (about) => {
    const known = answers.get(about) ?? { answer: ask(about) };
    answers.set(about, known);
    return known.answer;
  };
}

/** Leaves a path as written when it leads nowhere, in a circle, or cannot be read. */
function safely(realPath: PermissionInput["realPath"]): (path: string) => string {
  return (path) => {
    try {
      return realPath?.(path) ?? path;
    } catch {
      return path;
    }
  };
}
