/** A permission decision: the question, the answer, and the words for its reason. Pure. */

import type { PermissionMode } from "../core/decision.ts";
import type { Access } from "../core/ports.ts";
import type { SandboxPlan } from "../core/sandbox.ts";
import type { ParseShell } from "../core/shell-tree.ts";
import type { PermissionScope } from "./always-denied.ts";
import type { Rule } from "./parse-rule.ts";
import { isInside } from "./paths.ts";

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
  /** The session's folder for the temporary files of commands, which are free as the workspace is. */
  temporary?: string | undefined;
  /** The shell's working folder; the first workspace when unknown. */
  cwd?: string;
  /** The servers whose tools are commands of the shell too. Without it `mcp` is a program like any other. */
  servers?: ShellServers | undefined;
  /** The sandbox that commands run in. `full`: nothing that runs inside needs a question. */
  sandbox?: { plan: SandboxPlan; full: boolean } | undefined;
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
  /** Returns the files, absolute, that git tracks in the repository around a folder. Without it nothing is tracked. */
  tracked?: ((folder: string) => readonly string[]) | undefined;
};

/** `readsOnly`: by a claim of the server that the person trusts. */
export type ShellServers = { names: readonly string[]; readsOnly(server: string, tool: string): boolean };

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
} & Pick<
    PermissionInput,
    "parse" | "programsInGit" | "matches" | "survey" | "sandbox" | "tracked" | "servers"
  >;

export function byRule(decision: "allow" | "deny", { text }: Rule): PermissionDecision {
  const reason = decision === "allow" ? `The rule ${text} allows this.` : `The rule ${text} denies this.`;
  return { decision, rule: text, by: "rule", reason };
}

export function byMode(
  { mode }: PermissionQuery,
  decision: PermissionDecision["decision"],
  reason: string,
  suggestion?: string,
): PermissionDecision {
  return { decision, rule: mode, by: "mode", reason, ...(suggestion ? { suggestion } : {}) };
}

export function refused(why: string): PermissionDecision {
  return { decision: "deny", rule: "refused always", by: "always", reason: `Refused in every mode: ${why}.` };
}

export function isKnown({ workspace, readable }: PermissionQuery, path: string): boolean {
  return [...workspace, ...readable].some((folder) => isInside(path, folder));
}
