/** May this call run? A decision from the mode, the user's rules and what is refused always. Pure. */

import type { PermissionMode } from "../core/decision.ts";
import type { Access } from "../core/ports.ts";
import type { ParseShell } from "../core/shell-tree.ts";
import type { Places } from "./always-denied.ts";
import { decideCommand } from "./commands.ts";
import { byMode, byRule } from "./decision.ts";
import { decidePaths } from "./files.ts";
import { resolvePath } from "./paths.ts";
import { parseRule, type Rule } from "./rules.ts";

export type { PermissionMode } from "../core/decision.ts";
export { parseRule } from "./rules.ts";

export type PermissionInput = {
  mode: PermissionMode;
  /** Rules as `parseRule` reads them; one that it cannot read throws its `RuleError`. */
  allow: string[];
  /** Allow rules that the user gave for every folder: they do not count for git where a repository names programs. */
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
  /** Where the shell is; the first workspace when it is not known. */
  cwd?: string;
  /** The grammar of bash. Without it no command but a list of plain words is read for certain. */
  parse?: ParseShell | undefined;
  /** The absolute path with links resolved, as far as it exists; without it a link is what its name says. */
  realPath?: ((path: string) => string) | undefined;
  /** The absolute paths that an absolute glob stands for; undefined when they are too many to tell. Without it a glob is one name. */
  matches?: ((glob: string) => string[] | undefined) | undefined;
  /** What is below an absolute folder. Without it nothing there leads anywhere. */
  survey?: ((folder: string) => FolderSurvey) | undefined;
  /** Why git in an absolute folder may run a program that the repository names, if it may. */
  programsInGit?: ((folder: string) => string | undefined) | undefined;
};

/** Each a sentence: a link that leads out of the folder, a name that `xargs` would take for several or for an option. */
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

/** One question with its rules read. */
export type PermissionQuery = Places & {
  mode: PermissionMode;
  toolName: string;
  cwd: string;
  allow: Rule[];
  /** Those of `allow` that were given for every folder. */
  general: Rule[];
  deny: Rule[];
} & Pick<PermissionInput, "parse" | "programsInGit" | "matches" | "survey">;

/** Refused always beats deny rules, they beat allow rules, and those beat the mode. */
export function decidePermission(input: PermissionInput): PermissionDecision {
  const { access, workspace } = input;
  const general = (input.allowEverywhere ?? []).map(parseRule);
  const one: PermissionQuery = {
    ...input,
    allow: [...input.allow.map(parseRule), ...general],
    general,
    realPath: safely(input.realPath),
    programsInGit: askedOnce(input.programsInGit),
    matches: askedOnce(input.matches),
    survey: askedOnce(input.survey),
    deny: input.deny.map(parseRule),
    home: resolvePath("/", input.home),
    readable: input.readable ?? [],
    cwd: input.cwd ?? workspace[0] ?? "/",
  };
  switch (access.kind) {
    case "read":
    case "write":
      return decidePaths(one, access.kind, access.paths);
    case "execute":
      return decideCommand(one, access);
    case "session": {
      const denied = one.deny.find((rule) => rule.tool === one.toolName);
      return denied
        ? byRule("deny", denied)
        : byMode(one, "allow", "It only touches the session's own state.");
    }
  }
}

/** The answer is the same all through one decision, and costs reading files. */
function askedOnce<Answer>(
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

/** A path that leads nowhere, in a circle or cannot be looked at stays as it is written. */
function safely(realPath: PermissionInput["realPath"]): (path: string) => string {
  return (path) => {
    try {
      return realPath?.(path) ?? path;
    } catch {
      return path;
    }
  };
}
