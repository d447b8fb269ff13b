/** May this command run? Pure. */

import type { Access } from "../core/ports.ts";
import { deniedCommand } from "./always-denied.ts";
import { readCommandLine } from "./bash/command-line.ts";
import { type AgreedReading, isDoubtful, parseTwice } from "./bash/cross-check.ts";
import { withoutLoops } from "./bash/loops.ts";
import { type Candidate, programsOf } from "./bash/programs.ts";
import { onlyReads, pathsRead } from "./bash/read-only.ts";
import { gitRunsPrograms, gitVariableRuns } from "./bash/readers/git.ts";
import type { CommandLine, SimpleCommand } from "./bash/scanner.ts";
import type { PermissionDecision, PermissionQuery } from "./decide.ts";
import { byMode, byRule, isKnown, refused } from "./decision.ts";
import { decidePaths } from "./files.ts";
import { isInWorkspace, type NotFree, notFree, placesOf, runsInGit, streams } from "./free.ts";
import { plain, resolvePath } from "./paths.ts";
import { allowsCommand, type Certainty, coversPath, deniesCommand, type Rule } from "./rules.ts";
import { suggestCommand } from "./suggestions.ts";

type Command = Extract<Access, { kind: "execute" }>;

/** What a shell among the commands is fed counts, and so does what is typed to a program that waits. */
function programsWith(line: CommandLine, { command, input }: Command, one: PermissionQuery): Candidate[] {
  const place = { home: one.home, folders: [one.cwd] };
  const reading = { home: one.home, isDoubtful: (text: string) => isDoubtful(text, place, one.parse) };
  if (input === undefined) return programsOf(line, reading);
  if (command === "") return programsOf(readCommandLine(input, place), reading);
  const commands = line.commands.map((simple) => ({ ...simple, input: simple.input ?? input }));
  return programsOf({ ...line, commands }, reading);
}

/** Decides over a command line by all that it may run and touch. */
export function decideCommand(one: PermissionQuery, access: Command): PermissionDecision {
  const { home, cwd } = one;
  const { command } = access;
  const line = parseTwice(command, { home, folders: [cwd] }, one.parse);
  const programs = programsWith(line, access, one);
  const why = deniedCommand(programs, one);
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
  return allowedByRule(one, command, line) ?? commandByMode(one, command, line, programs);
}

/** Whether the line touches a file that a `read(…)` or `edit(…)` rule denies. */
function touches(one: PermissionQuery, rule: Rule, { commands }: CommandLine): Certainty[] {
  if (rule.pattern === undefined || (rule.tool !== "read" && rule.tool !== "edit")) return [];
  return commands.flatMap(({ words, redirects, folders }) => {
    const covers = (text: string): boolean =>
      folders
        .flatMap((folder) => placesOf(one, text, folder) ?? [])
        .some((path) => coversPath(rule, path, one.workspace, one.home));
    const written = redirects.some(
      ({ target, operator }) => (operator === "<") === (rule.tool === "read") && covers(target),
    );
    const reads = onlyReads(words);
    const named = (reads ? pathsRead(words) : words.slice(1)).some(covers);
    if (written || (named && reads && rule.tool === "read")) return ["yes"];
    return [named && !reads ? "maybe" : "no"];
  });
}

/** Every command of the line must be covered, by a rule or as one that only reads. */
function allowedByRule(
  one: PermissionQuery,
  command: string,
  line: AgreedReading,
): PermissionDecision | undefined {
  const isPlanted = line.commands.some((simple) => runsInGit(one, simple) !== undefined);
  const rules = one.allow.filter(
    (rule) =>
      rule.tool === one.toolName && (rule.pattern === undefined || !isPlanted || !one.general.includes(rule)),
  );
  const whole = rules.find(
    ({ pattern }) => pattern === undefined || (pattern === command.trim() && !line.unreadable),
  );
  if (whole) return byRule("allow", whole);
  if (line.problems.length > 0) return undefined;
  let used: Rule | undefined;
  for (const [index, simple] of line.commands.entries()) {
    const rule = rules.find((each) => allowsCommand(each, simple.words.map(plain)));
    used ??= rule;
    const covered = rule
      ? simple.redirects.every((redirect) => mayRedirect(one, simple, redirect))
      : notFree(one, line.commands, index) === undefined;
    if (!covered) return undefined;
  }
  return used && byRule("allow", used);
}

function mayRedirect(
  one: PermissionQuery,
  { folders }: SimpleCommand,
  { operator, target }: { operator: string; target: string },
): boolean {
  return folders.every((folder) => {
    const written = resolvePath(folder, plain(target));
    if (streams.test(written)) return true;
    const path = one.realPath(written);
    if (operator === "<") return isKnown(one, path);
    return decidePaths(one, "write", [path]).decision === "allow" && isInWorkspace(one, path);
  });
}

function commandByMode(
  one: PermissionQuery,
  command: string,
  line: AgreedReading,
  programs: Candidate[],
): PermissionDecision {
  const git = gitPrograms(programs);
  if (one.mode === "auto" && git === undefined) return byMode(one, "allow", "The mode auto allows it.");
  if (isFreeLine(one, command, line))
    return byMode(one, "allow", "Commands that only read inside the workspace are free.");
  const [problem] = line.problems;
  const closed = one.mode === "plan" ? "deny" : "ask";
  if (line.unreadable && one.mode !== "auto") {
    const why = `This command cannot be read for certain (${problem}), so it is asked for each time.`;
    return byMode(one, closed, why);
  }
  const suggestion = suggestCommand(one, command, line);
  if (git !== undefined) return byMode(one, closed, `Git runs programs by this: ${git}.`, suggestion);
  const reasons = line.commands.flatMap((_, index) => notFree(one, line.commands, index) ?? []);
  const planted = reasons.find((reason) => reason.why === "git");
  if (planted?.why === "git") return byMode(one, closed, `${planted.says}.`, suggestion);
  if (problem === undefined && reasons.every(({ why }) => why !== "does-more"))
    return byMode(one, "ask", readReason(reasons), suggestion);
  if (one.mode === "ask") return byMode(one, "ask", "Running a command needs permission.", suggestion);
  const why = problem
    ? `This command cannot be read for certain (${problem}).`
    : "This command may write or run something.";
  return byMode(one, closed, why, suggestion);
}

/** Every command only reads, also those of a loop, whose words are all known. */
function isFreeLine(one: PermissionQuery, command: string, line: AgreedReading): boolean {
  if (line.unreadable || line.commands.length === 0) return false;
  if (line.problems.length === 0)
    return line.commands.every((_, index) => !notFree(one, line.commands, index));
  const written = one.parse && /\bfor\b/.test(command) ? withoutLoops(command, one.parse) : undefined;
  if (written === undefined) return false;
  const flat = parseTwice(written, { home: one.home, folders: [one.cwd] }, one.parse);
  return flat.problems.length === 0 && isFreeLine(one, written, flat);
}

function readReason(reasons: readonly NotFree[]): string {
  const told = reasons.find(({ why }) => why === "leads-out");
  if (told?.why === "leads-out") return `It may read outside the workspace: ${told.says}.`;
  return reasons.some(({ why }) => why === "outside")
    ? "It reads outside the workspace."
    : "It reads a file that holds secrets.";
}

/** By what git runs other programs here: a setting, a template, a variable. */
function gitPrograms(programs: Candidate[]): string | undefined {
  for (const { words, written } of programs) {
    const set = [...(written?.assignments ?? []), ...words]
      .map(plain)
      .filter((word) => word.startsWith("GIT_"));
    const why =
      set.map(gitVariableRuns).find(Boolean) ??
      (words[0] === "git" ? gitRunsPrograms(words.slice(1).map(plain)) : undefined);
    if (why) return why;
  }
  return undefined;
}
