/** May this command run? Pure. */

import type { Case, PermissionDecision } from "./permission.ts";
import { readCommandLine } from "./permission-command.ts";
import { refusedCommand } from "./permission-danger.ts";
import { decidePaths } from "./permission-files.ts";
import { isInWorkspace, type NotFree, notFree, placesOf, runsInGit, streams } from "./permission-free.ts";
import { gitRunsPrograms, gitVariableRuns } from "./permission-git.ts";
import { withoutLoops } from "./permission-loops.ts";
import { plain, resolvePath } from "./permission-path.ts";
import { type Candidate, programsOf } from "./permission-programs.ts";
import { onlyReads, pathsRead } from "./permission-reads.ts";
import { allowsCommand, type Certainty, coversPath, deniesCommand, type Rule } from "./permission-rule.ts";
import type { CommandLine, SimpleCommand } from "./permission-scan.ts";
import { suggestCommand } from "./permission-suggestion.ts";
import { isDoubtful, readSurely, type SureLine } from "./permission-sure.ts";
import { byMode, byRule, isKnown, refused } from "./permission-verdict.ts";
import type { Access } from "./ports.ts";

type Command = Extract<Access, { kind: "execute" }>;

/** What a shell among the commands is fed counts, and so does what is typed to a program that waits. */
function programsWith(line: CommandLine, { command, input }: Command, one: Case): Candidate[] {
  const place = { home: one.home, folders: [one.cwd] };
  const reading = { home: one.home, isDoubtful: (text: string) => isDoubtful(text, place, one.parse) };
  if (input === undefined) return programsOf(line, reading);
  if (command === "") return programsOf(readCommandLine(input, place), reading);
  const commands = line.commands.map((simple) => ({ ...simple, input: simple.input ?? input }));
  return programsOf({ ...line, commands }, reading);
}

/** Decides over a command line by all that it may run and touch. */
export function decideCommand(one: Case, access: Command): PermissionDecision {
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
  return allowedByRule(one, command, line) ?? commandByMode(one, command, line, programs);
}

/** Whether the line touches a file that a `read(…)` or `edit(…)` rule denies. */
function touches(one: Case, rule: Rule, { commands }: CommandLine): Certainty[] {
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
function allowedByRule(one: Case, command: string, line: SureLine): PermissionDecision | undefined {
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
  one: Case,
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
  one: Case,
  command: string,
  line: SureLine,
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
function isFreeLine(one: Case, command: string, line: SureLine): boolean {
  if (line.unreadable || line.commands.length === 0) return false;
  if (line.problems.length === 0)
    return line.commands.every((_, index) => !notFree(one, line.commands, index));
  const written = one.parse && /\bfor\b/.test(command) ? withoutLoops(command, one.parse) : undefined;
  if (written === undefined) return false;
  const flat = readSurely(written, { home: one.home, folders: [one.cwd] }, one.parse);
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
