/** May this command run? Pure. */

import type { Case, PermissionDecision } from "./permission.ts";
import { readCommandLine } from "./permission-command.ts";
import { refusedCommand } from "./permission-danger.ts";
import { decidePaths } from "./permission-files.ts";
import { isInside, plain, resolvePath } from "./permission-path.ts";
import { type Candidate, programsOf } from "./permission-programs.ts";
import { gitFolder, onlyReads, pathsRead } from "./permission-reads.ts";
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
    const written = resolvePath(folder, plain(target));
    if (streams.test(written)) return true;
    const path = one.realPath(written);
    if (operator === "<") return isKnown(one, path);
    return (
      decidePaths(one, "write", [path]).decision === "allow" &&
      one.workspace.some((root) => isInside(path, root))
    );
  });
}

/** Why this command, which is git and only reads, may still run what the repository it reads names. */
function runsInGit({ programsInGit }: Case, { words, folders }: SimpleCommand): string | undefined {
  if (words[0] !== "git") return undefined;
  for (const folder of folders) {
    const inside = gitFolder(words.slice(1).map(plain), folder);
    const why = programsInGit?.(inside);
    if (why !== undefined) return `git in ${inside} may run a program of the repository: ${why}`;
  }
  return undefined;
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
    runsInGit(one, simple) === undefined &&
    simple.folders.every((folder) =>
      paths.every((path) => isKnown(one, one.realPath(resolvePath(folder, path)))),
    )
  );
}

function commandByMode(one: Case, command: string, line: SureLine): PermissionDecision {
  if (one.mode === "auto") return byMode(one, "allow", "The mode auto allows it.");
  const [problem] = line.problems;
  const closed = one.mode === "plan" ? "deny" : "ask";
  if (line.unreadable) {
    const why = `This command cannot be read for certain (${problem}), so it is asked for each time.`;
    return byMode(one, closed, why);
  }
  if (one.mode !== "ask" && problem === undefined && line.commands.every((simple) => isFree(one, simple)))
    return byMode(one, "allow", "Commands that only read inside the workspace are free.");
  const suggestion = suggestCommand(command, line);
  const [planted] = line.commands.flatMap((simple) => runsInGit(one, simple) ?? []);
  if (planted !== undefined) return byMode(one, closed, `${planted}.`, suggestion);
  if (one.mode === "ask") return byMode(one, "ask", "Running a command needs permission.", suggestion);
  if (problem === undefined && line.commands.every(readsSomewhere))
    return byMode(one, "ask", "It reads outside the workspace.", suggestion);
  const why = problem
    ? `This command cannot be read for certain (${problem}).`
    : "This command may write or run something.";
  return byMode(one, closed, why, suggestion);
}

function readsSomewhere({ words, redirects }: SimpleCommand): boolean {
  const onlyIn = redirects.every(({ operator, target }) => operator === "<" || streams.test(target));
  return onlyReads(words.map(plain)) && onlyIn;
}
