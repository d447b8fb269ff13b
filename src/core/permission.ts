/** May this call run? A decision from the mode, the user's rules and what is refused always. Pure. */

import { readCommandLine } from "./permission-command.ts";
import { type Places, refusedCommand, refusedWrite } from "./permission-danger.ts";
import { isInside, plain, resolvePath } from "./permission-path.ts";
import { type Candidate, programsOf } from "./permission-programs.ts";
import { onlyReads, pathsRead } from "./permission-reads.ts";
import {
  allowsCommand,
  type Certainty,
  coversPath,
  deniesCommand,
  parseRule,
  type Rule,
} from "./permission-rule.ts";
import type { CommandLine, SimpleCommand } from "./permission-scan.ts";
import { suggestCommand, suggestPaths } from "./permission-suggestion.ts";
import { readSurely, type SureLine } from "./permission-sure.ts";
import type { Access } from "./ports.ts";
import type { ParseShell } from "./shell-tree.ts";

export { parseRule } from "./permission-rule.ts";

export type PermissionMode = "ask" | "accept-edits" | "plan" | "auto";

export type PermissionInput = {
  mode: PermissionMode;
  /** Rules as `parseRule` reads them; one that it cannot read throws its `RuleError`. */
  allow: string[];
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
};

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

type Case = Places & {
  mode: PermissionMode;
  toolName: string;
  cwd: string;
  allow: Rule[];
  deny: Rule[];
  parse?: ParseShell | undefined;
};

/** Refused always beats deny rules, they beat allow rules, and those beat the mode. */
export function decidePermission(input: PermissionInput): PermissionDecision {
  const { access, workspace } = input;
  const one: Case = {
    ...input,
    allow: input.allow.map(parseRule),
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

function byRule(decision: "allow" | "deny", { text }: Rule): PermissionDecision {
  const reason = decision === "allow" ? `The rule ${text} allows this.` : `The rule ${text} denies this.`;
  return { decision, rule: text, by: "rule", reason };
}

function byMode(
  { mode }: Case,
  decision: PermissionDecision["decision"],
  reason: string,
  suggestion?: string,
): PermissionDecision {
  return { decision, rule: mode, by: "mode", reason, ...(suggestion ? { suggestion } : {}) };
}

function refused(why: string): PermissionDecision {
  return { decision: "deny", rule: "refused always", by: "always", reason: `Refused in every mode: ${why}.` };
}

function isKnown({ workspace, readable }: Case, path: string): boolean {
  return [...workspace, ...readable].some((folder) => isInside(path, folder));
}

function decidePaths(one: Case, kind: "read" | "write", paths: string[]): PermissionDecision {
  for (const path of kind === "write" ? paths : []) {
    const why = refusedWrite(path, one);
    if (why) return refused(`${path}: ${why}`);
  }
  const covers = (rule: Rule, path: string): boolean =>
    ruleIsFor(rule, one.toolName, kind) && coversPath(rule, path, one.workspace, one.home);
  const denied = one.deny.find((rule) => paths.some((path) => covers(rule, path)));
  if (denied) return byRule("deny", denied);
  const allowing = paths.map((path) => one.allow.find((rule) => covers(rule, path)));
  const [allowed] = allowing;
  if (allowed && allowing.every(Boolean)) return byRule("allow", allowed);
  return kind === "read" ? readByMode(one, paths) : writeByMode(one, paths);
}

function ruleIsFor({ tool }: Rule, toolName: string, kind: "read" | "write"): boolean {
  return tool === toolName || tool === (kind === "read" ? "read" : "edit");
}

function readByMode(one: Case, paths: string[]): PermissionDecision {
  const outside = paths.filter((path) => !isKnown(one, path));
  if (outside.length === 0) return byMode(one, "allow", "Reading inside the workspace is free.");
  if (one.mode === "auto") return byMode(one, "allow", "The mode auto allows it.");
  const suggestion = suggestPaths("read", outside, one.workspace);
  return byMode(one, "ask", `${outside.join(", ")} is outside the workspace.`, suggestion);
}

function writeByMode(one: Case, paths: string[]): PermissionDecision {
  const suggestion = suggestPaths("write", paths, one.workspace);
  const outside = paths.filter((path) => !one.workspace.some((folder) => isInside(path, folder)));
  switch (one.mode) {
    case "auto":
      return byMode(one, "allow", "The mode auto allows it.");
    case "plan":
      return byMode(one, "deny", "The mode plan writes nothing.", suggestion);
    case "accept-edits":
      if (outside.length === 0) return byMode(one, "allow", "Edits inside the workspace are free.");
      return byMode(one, "ask", `${outside.join(", ")} is outside the workspace.`, suggestion);
    case "ask":
      return byMode(one, "ask", `Writing ${paths.join(", ")} needs permission.`, suggestion);
  }
}

type Command = Extract<Access, { kind: "execute" }>;

/** What a shell among the commands is fed counts, and so does what is typed to a program that waits. */
function programsWith(line: CommandLine, { command, input }: Command, { home, cwd }: Case): Candidate[] {
  if (input === undefined) return programsOf(line, home);
  if (command === "") return programsOf(readCommandLine(input, { home, folders: [cwd] }), home);
  const commands = line.commands.map((simple) => ({ ...simple, input: simple.input ?? input }));
  return programsOf({ ...line, commands }, home);
}

function decideCommand(one: Case, access: Command): PermissionDecision {
  const { home, cwd } = one;
  const { command } = access;
  const line = readSurely(command, { home, folders: [cwd] }, one.parse);
  const programs = programsWith(line, access, one);
  const why = refusedCommand(programs, one);
  if (why) return refused(why);
  const verdicts = one.deny.map((rule): { rule: Rule; certainty: Certainty } => {
    const about =
      rule.tool === one.toolName
        ? programs.map((program) => deniesCommand(rule, program))
        : touches(one, rule, line);
    const certainty = about.includes("yes") ? "yes" : about.includes("maybe") ? "maybe" : "no";
    if (rule.tool !== one.toolName) return { rule, certainty };
    if (rule.pattern === undefined) return { rule, certainty: "yes" };
    return { rule, certainty: certainty === "no" && line.unreadable ? "maybe" : certainty };
  });
  const denied = verdicts.find(({ certainty }) => certainty === "yes");
  if (denied) return byRule("deny", denied.rule);
  const suspect = verdicts.find(({ certainty }) => certainty === "maybe");
  if (suspect) {
    const reason = `The rule ${suspect.rule.text} may deny a part of this command: it cannot be read for certain.`;
    return { decision: "ask", rule: suspect.rule.text, by: "rule", reason };
  }
  return allowedByRule(one, command, line) ?? commandByMode(one, command, line);
}

/** Whether the line touches a file that a `read(…)` or `edit(…)` rule denies. */
function touches(one: Case, rule: Rule, { commands }: CommandLine): Certainty[] {
  if (rule.pattern === undefined || (rule.tool !== "read" && rule.tool !== "edit")) return [];
  return commands.flatMap(({ words, redirects, folders }) => {
    const covers = (text: string): boolean =>
      folders.some((folder) => coversPath(rule, resolvePath(folder, plain(text)), one.workspace, one.home));
    const written = redirects.some(
      ({ target, operator }) => (operator === "<") === (rule.tool === "read") && covers(target),
    );
    const plainWords = words.map(plain);
    const reads = onlyReads(plainWords);
    const named = (reads ? pathsRead(plainWords) : words.slice(1)).some(covers);
    if (written || (named && reads && rule.tool === "read")) return ["yes"];
    return [named && !reads ? "maybe" : "no"];
  });
}

/** Every command of the line must be covered, by a rule or as one that only reads. */
function allowedByRule(one: Case, command: string, line: SureLine): PermissionDecision | undefined {
  const rules = one.allow.filter(({ tool }) => tool === one.toolName);
  const whole = rules.find(
    ({ pattern }) => pattern === undefined || (pattern === command.trim() && !line.unreadable),
  );
  if (whole) return byRule("allow", whole);
  if (line.problems.length > 0) return undefined;
  let used: Rule | undefined;
  for (const simple of line.commands) {
    const rule = rules.find((each) => allowsCommand(each, simple.words.map(plain)));
    used ??= rule;
    const covered = rule
      ? simple.redirects.every((redirect) => mayRedirect(one, simple, redirect))
      : one.mode !== "ask" && isFree(one, simple);
    if (!covered) return undefined;
  }
  return used && byRule("allow", used);
}

const streams = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)$/;

function mayRedirect(
  one: Case,
  { folders }: SimpleCommand,
  { operator, target }: { operator: string; target: string },
): boolean {
  return folders.every((folder) => {
    const path = resolvePath(folder, plain(target));
    if (streams.test(path)) return true;
    if (operator === "<") return isKnown(one, path);
    return (
      decidePaths(one, "write", [path]).decision === "allow" &&
      one.workspace.some((root) => isInside(path, root))
    );
  });
}

/** Only reads, and only what is in the workspace or the session. */
function isFree(one: Case, simple: SimpleCommand): boolean {
  const words = simple.words.map(plain);
  const streamsOnly = simple.redirects.every(
    ({ operator, target }) =>
      streams.test(target) || (operator === "<" && mayRedirect(one, simple, { operator, target })),
  );
  const paths = pathsRead(words);
  return (
    onlyReads(words) &&
    streamsOnly &&
    simple.folders.every((folder) => paths.every((path) => isKnown(one, resolvePath(folder, path))))
  );
}

function commandByMode(one: Case, command: string, line: SureLine): PermissionDecision {
  const suggestion = suggestCommand(command, line);
  if (one.mode === "auto") return byMode(one, "allow", "The mode auto allows it.");
  const [problem] = line.problems;
  if (line.unreadable)
    return byMode(
      one,
      one.mode === "plan" ? "deny" : "ask",
      `This command cannot be read for certain (${problem}), so it is asked for each time.`,
    );
  if (one.mode === "ask") return byMode(one, "ask", "Running a command needs permission.", suggestion);
  if (problem === undefined && line.commands.every((simple) => isFree(one, simple)))
    return byMode(one, "allow", "Commands that only read inside the workspace are free.");
  const reads =
    problem === undefined &&
    line.commands.every(
      ({ words, redirects }) =>
        onlyReads(words.map(plain)) &&
        redirects.every(({ operator, target }) => operator === "<" || streams.test(target)),
    );
  if (reads) return byMode(one, "ask", "It reads outside the workspace.", suggestion);
  const why = problem
    ? `This command cannot be read for certain (${problem}).`
    : "This command may write or run something.";
  return byMode(one, one.mode === "plan" ? "deny" : "ask", why, suggestion);
}
