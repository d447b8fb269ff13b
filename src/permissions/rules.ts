/** Matches calls against rules such as `bash(npm test:*)`, `edit(src/**)` or `todo`. Pure. */

import type { RuleScope } from "../core/decision.ts";
import type { Candidate } from "./bash/programs.ts";
import { exceedsRule } from "./bash/read-only.ts";
import { isUnknown } from "./bash/words.ts";
import type { Rule } from "./parse-rule.ts";
import { globExpression, hasGlob, isInside, nameOf, plain, resolvePath } from "./paths.ts";
import { withoutPreset } from "./sandbox/rule-forms.ts";

export type { RuleScope } from "../core/decision.ts";

/** A rule in force. `where` names the file or flag that holds it, for people. */
export type StandingRule = {
  rule: string;
  kind: "allow" | "deny";
  scope: RuleScope | "flags";
  where: string;
};

/** The rules in force, as the user sees and changes them. */
export type StandingRules = {
  list(): StandingRule[];
  /** Allows from now on. A rule that cannot be stored applies to the session only, and the user is told. */
  add(rule: string, scope: RuleScope): void;
  /** Removes a rule; returns the reason when it could not. */
  remove(rule: StandingRule): string | undefined;
  locations: Readonly<Record<RuleScope, string>>;
};

/** Returns the words with which a command begins under a `bash` rule. `open`: more words may follow. */
function commandWords(pattern: string): { words: string[]; open: boolean } {
  const prefix = /^([\s\S]*?)(?::\*|\s+\*|^\*)$/.exec(pattern)?.[1];
  const words = (prefix ?? pattern).split(/\s+/).filter(Boolean);
  return { words, open: prefix !== undefined };
}

/** Returns true when an allow rule certainly covers the command with these words (without quotes). */
export function allowsCommand({ pattern }: Rule, words: string[]): boolean {
  if (pattern === undefined) return true;
  const rule = commandWords(pattern);
  const fits = rule.words.every((word, index) => word === words[index]);
  if (!rule.open) return fits && words.length === rule.words.length;
  return fits && (rule.words.length === 0 || !exceedsRule(words));
}

export type Certainty = "yes" | "maybe" | "no";

/** Returns how certainly a deny rule covers a command that may run here. */
export function deniesCommand({ pattern }: Rule, { words, certain }: Candidate): Certainty {
  const rule = pattern === undefined ? [] : commandWords(pattern).words;
  if (isUnknown(words[0] ?? "") && !certain) return "no";
  const found = matchLoosely(rule, words);
  return found === "yes" && !certain ? "maybe" : found;
}

/** Matches words that may have options and their values between the words of the rule: `git -C x push`. */
function matchLoosely(rule: string[], words: string[]): Certainty {
  let next = 0;
  let mayBeValue = false;
  let certainty: Certainty = "yes";
  for (const word of words) {
    const wanted = next === 0 ? rule[0] && nameOf(rule[0]) : rule[next];
    if (wanted === undefined) return certainty;
    const isOption = next > 0 && word.startsWith("-");
    if (isUnknown(word)) certainty = "maybe";
    if (plain(word) === wanted || isUnknown(word) || (hasGlob(word) && globExpression(word).test(wanted)))
      next += 1;
    else if (!isOption && !mayBeValue) return "no";
    mayBeValue = isOption;
  }
  return next >= rule.length ? certainty : "no";
}

/** Returns true when a rule's glob covers a path: relative to a workspace, absolute, or from the home with `~/`. */
export function coversPath(rule: Rule, path: string, workspace: readonly string[], home: string): boolean {
  return coverage(rule, workspace, home)(path);
}

/** Returns a test of absolute paths against a rule's glob, for many paths: see `coversPath`. */
export function coverage(
  { pattern }: Rule,
  workspace: readonly string[],
  home: string,
): (path: string) => boolean {
  if (pattern === undefined) return () => true;
  const globs = globsOf(pattern, workspace, home).map((glob) => ({ glob, expression: globExpression(glob) }));
  return (path) =>
    globs.some(({ glob, expression }) => expression.test(path) || (!hasGlob(glob) && isInside(path, glob)));
}

/** Returns the absolute globs that the pattern of a rule about files stands for. */
export function globsOf(pattern: string, workspace: readonly string[], home: string): string[] {
  return withoutPreset(pattern).flatMap((one) => {
    const bases = one.startsWith("/") ? ["/"] : one.startsWith("~/") ? [home] : workspace;
    return bases.map((base) => resolvePath(base, one.replace(/^~\//, "")));
  });
}
