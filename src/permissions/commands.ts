/** Decides whether a command may run. Pure. */

import type { Access } from "../core/ports.ts";
import { deletions, deniedCommand } from "./always-denied.ts";
import { readCommandLine } from "./bash/command-line.ts";
import { type AgreedReading, isDoubtful, parseTwice } from "./bash/cross-check.ts";
import { withoutLoops } from "./bash/loops.ts";
import { type Candidate, programsOf } from "./bash/programs.ts";
import { onlyReads, pathsRead } from "./bash/read-only.ts";
import { gitGlobals, gitRunsPrograms, gitVariableRuns } from "./bash/readers/git.ts";
import type { CommandLine, SimpleCommand } from "./bash/scanner.ts";
import type { PermissionDecision, PermissionQuery } from "./decision.ts";
import { byMode, byRule, isKnown, refused } from "./decision.ts";
import { decidePaths } from "./files.ts";
import { isInWorkspace, type NotFree, notFree, pathsOf, runsInGit, streams } from "./free.ts";
import { decideOutside } from "./outside.ts";
import type { Rule } from "./parse-rule.ts";
import { globExpression, hasGlob, isInside, plain, resolvePath, withAncestors } from "./paths.ts";
import { allowsCommand, type Certainty, coverage, deniesCommand } from "./rules.ts";
import { suggestCommand } from "./suggestions.ts";

type Command = Extract<Access, { kind: "execute" }>;

/** Lists the programs of the line, including those in its input and in text typed to a waiting program. */
function programsWith(line: CommandLine, { command, input }: Command, query: PermissionQuery): Candidate[] {
  const context = { home: query.home, folders: [query.cwd] };
  const reading = { home: query.home, isDoubtful: (text: string) => isDoubtful(text, context, query.parse) };
  if (input === undefined) return programsOf(line, reading);
  if (command === "") return programsOf(readCommandLine(input, context), reading);
  const commands = line.commands.map((simple) => ({ ...simple, input: simple.input ?? input }));
  return programsOf({ ...line, commands }, reading);
}

/** Decides on a command line by everything that it may run and touch. */
export function decideCommand(query: PermissionQuery, access: Command): PermissionDecision {
  const { home, cwd } = query;
  const { command } = access;
  const line = parseTwice(command, { home, folders: [cwd] }, query.parse);
  const programs = programsWith(line, access, query);
  const why = deniedCommand(programs, query);
  if (why) return refused(why);
  const verdicts = query.deny.map((rule) => verdictOf(query, access, { rule, line, programs }));
  const denied = verdicts.find(({ certainty }) => certainty === "yes");
  if (denied) return byRule("deny", denied.rule);
  const suspect = verdicts.find(({ certainty }) => certainty === "maybe");
  if (suspect) {
    const reason = `The rule ${suspect.rule.text} may deny part of this command, which cannot be read for certain.`;
    return { decision: "ask", rule: suspect.rule.text, by: "rule", reason };
  }
  if (access.outside)
    return decideOutside(query, access, line, (simple) =>
      simple.redirects.every((redirect) => mayRedirect(query, simple, redirect)),
    );
  return allowedByRule(query, command, line) ?? commandByMode(query, command, line, programs);
}

type Judged = { rule: Rule; line: AgreedReading; programs: Candidate[] };

/** Tells how certainly a deny rule covers the command. */
function verdictOf(
  query: PermissionQuery,
  access: Command,
  { rule, line, programs }: Judged,
): { rule: Rule; certainty: Certainty } {
  const isAbout = rule.tool === query.toolName || (access.outside !== undefined && rule.tool === "outside");
  const about = isAbout
    ? programs.map((program) => deniesCommand(rule, program))
    : touches(query, rule, line);
  if (about.includes("yes")) return { rule, certainty: "yes" };
  // What a sandbox hides or closes by a rule needs no guess.
  const enforced = !isAbout && access.outside === undefined && query.sandbox?.full === true;
  const certainty = about.includes("maybe") && !enforced ? "maybe" : "no";
  if (!isAbout) return { rule, certainty };
  if (rule.pattern === undefined) return { rule, certainty: "yes" };
  return { rule, certainty: certainty === "no" && line.unreadable ? "maybe" : certainty };
}

/** Returns true when the line touches a file that a `read(…)` or `edit(…)` rule denies. */
function touches(query: PermissionQuery, rule: Rule, { commands }: CommandLine): Certainty[] {
  if (rule.pattern === undefined || (rule.tool !== "read" && rule.tool !== "edit")) return [];
  const coversAbsolute = coverage(rule, query.workspace, query.home);
  return commands.flatMap(({ words, redirects, folders }) => {
    const covers = (text: string): boolean =>
      folders.flatMap((folder) => pathsOf(query, text, folder) ?? []).some(coversAbsolute);
    const written = redirects.some(
      ({ target, operator }) => (operator === "<") === (rule.tool === "read") && covers(target),
    );
    const reads = onlyReads(words);
    const named = (reads ? pathsRead(words) : words.slice(1)).some(covers);
    if (written || (named && reads && rule.tool === "read")) return ["yes"];
    return [named && !reads ? "maybe" : "no"];
  });
}

/** Checks that every command of the line is covered by a rule or only reads. */
function allowedByRule(
  query: PermissionQuery,
  command: string,
  line: AgreedReading,
): PermissionDecision | undefined {
  const isPlanted = line.commands.some((simple) => runsInGit(query, simple) !== undefined);
  const rules = query.allow.filter(
    (rule) =>
      rule.tool === query.toolName &&
      (rule.pattern === undefined || !isPlanted || !query.general.includes(rule)),
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
      ? simple.redirects.every((redirect) => mayRedirect(query, simple, redirect))
      : notFree(query, line.commands, index) === undefined;
    if (!covered) return undefined;
  }
  return used && byRule("allow", used);
}

function mayRedirect(
  query: PermissionQuery,
  { folders }: SimpleCommand,
  { operator, target }: { operator: string; target: string },
): boolean {
  return folders.every((folder) => {
    const written = resolvePath(folder, plain(target));
    if (streams.test(written)) return true;
    const path = query.realPath(written);
    if (operator === "<") return isKnown(query, path);
    return decidePaths(query, "write", [path]).decision === "allow" && isInWorkspace(query, path);
  });
}

function commandByMode(
  query: PermissionQuery,
  command: string,
  line: AgreedReading,
  programs: Candidate[],
): PermissionDecision {
  const inside = query.sandbox?.full ? insideByMode(query, programs) : undefined;
  if (inside) return inside;
  const git = gitPrograms(programs);
  if (query.mode === "auto" && git === undefined) return byMode(query, "allow", "Auto mode allows it.");
  if (isFreeLine(query, command, line))
    return byMode(query, "allow", "Commands that only read inside the workspace need no permission.");
  const [problem] = line.problems;
  const closed = query.mode === "plan" ? "deny" : "ask";
  if (line.unreadable && query.mode !== "auto") {
    const why = `This command cannot be read for certain (${problem}), so it needs permission each time.`;
    return byMode(query, closed, why);
  }
  const suggestion = suggestCommand(query, command, line);
  if (git !== undefined)
    return byMode(query, closed, `This can make git run other programs: ${git}.`, suggestion);
  const reasons = line.commands.flatMap((_, index) => notFree(query, line.commands, index) ?? []);
  const planted = reasons.find((reason) => reason.why === "git");
  if (planted?.why === "git") return byMode(query, closed, `${planted.detail}.`, suggestion);
  if (problem === undefined && reasons.every(({ why }) => why !== "does-more"))
    return byMode(query, "ask", readReason(reasons), suggestion);
  if (query.mode === "ask") return byMode(query, "ask", "Running a command needs permission.", suggestion);
  const why = problem
    ? `This command cannot be read for certain (${problem}).`
    : "This command may write or run something.";
  return byMode(query, closed, why, suggestion);
}

/** Decides on a command whose every effect a sandbox holds; undefined leaves it to the mode as without one. */
function insideByMode(query: PermissionQuery, programs: Candidate[]): PermissionDecision | undefined {
  switch (query.mode) {
    case "ask":
      return undefined;
    case "plan":
      return byMode(query, "allow", "In plan mode the sandbox lets commands write nothing of the project.");
    case "auto":
      return byMode(query, "allow", "Auto mode allows it.");
    case "accept-edits": {
      if (programs.some(({ words }) => sendsOut(words.map(plain)))) return undefined;
      const lost = trackedAmong(query, programs.flatMap(deletions));
      return lost > mostDeleted
        ? byMode(query, "ask", `This deletes ${lost} files that git tracks.`)
        : byMode(query, "allow", "What stays inside of the sandbox needs no permission.");
    }
  }
}

/** Deleting more files that git tracks needs permission although it stays inside. */
const mostDeleted = 50;

/** Counts the files that git tracks at or below these paths, perhaps globs. */
function trackedAmong({ workspace, tracked }: PermissionQuery, paths: readonly string[]): number {
  if (paths.length === 0 || !tracked) return 0;
  const plainPaths = [...new Set(paths.filter((path) => !hasGlob(path)).map(plain))];
  const globs = [...new Set(paths.filter(hasGlob))].map(globExpression);
  const isLost = (file: string) =>
    plainPaths.some((path) => isInside(file, path)) ||
    (globs.length > 0 && withAncestors(file).some((path) => globs.some((glob) => glob.test(path))));
  return [...new Set(workspace.flatMap((root) => [...tracked(root)]))].filter(isLost).length;
}

/** Returns true for `git push`, which publishes. */
function sendsOut([program, ...args]: string[]): boolean {
  if (program !== "git") return false;
  return args[gitGlobals(args).length] === "push";
}

/** Checks that every command only reads, including those of a loop whose words are all known. */
function isFreeLine(query: PermissionQuery, command: string, line: AgreedReading): boolean {
  if (line.unreadable || line.commands.length === 0) return false;
  if (line.problems.length === 0)
    return line.commands.every((_, index) => !notFree(query, line.commands, index));
  const written = query.parse && /\bfor\b/.test(command) ? withoutLoops(command, query.parse) : undefined;
  if (written === undefined) return false;
  const flat = parseTwice(written, { home: query.home, folders: [query.cwd] }, query.parse);
  return flat.problems.length === 0 && isFreeLine(query, written, flat);
}

function readReason(reasons: readonly NotFree[]): string {
  const leadsOut = reasons.find(({ why }) => why === "leads-out");
  if (leadsOut?.why === "leads-out") return `It may read outside the workspace: ${leadsOut.detail}.`;
  return reasons.some(({ why }) => why === "outside")
    ? "It reads outside the workspace."
    : "It reads a file that holds secrets.";
}

/** Returns the setting, template or variable through which git would run other programs. */
function gitPrograms(programs: Candidate[]): string | undefined {
  for (const { words, written } of programs) {
    const set = [written?.assignments ?? [], words]
      .flatMap((texts) => texts.filter((text) => text.startsWith("GIT_")))
      .map(plain);
    const why =
      set.map(gitVariableRuns).find(Boolean) ??
      (words[0] === "git" ? gitRunsPrograms(words.slice(1).map(plain)) : undefined);
    if (why) return why;
  }
  return undefined;
}
