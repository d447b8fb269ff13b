/** Parses rules such as `bash(npm test:*)`, `edit(src/**)` or `todo`. Pure. */

import { RuleError } from "./rule-error.ts";
import { checkForm } from "./sandbox/rule-forms.ts";

export type Rule = {
  /** As the user wrote it. */
  text: string;
  /** A tool's name; `edit` and `read` stand for every tool that writes or reads files. */
  tool: string;
  pattern?: string;
};

/** Parses a rule. Throws a `RuleError` whose message says what is wrong and how to write it. */
export function parseRule(text: string): Rule {
  const rule = readRule(text);
  checkForm(rule);
  return rule;
}

function readRule(text: string): Rule {
  const wrong = (what: string): RuleError =>
    new RuleError(
      `the rule "${text}" ${what}: write tool, bash(command:*), bash(exact command) or edit(folder/**)`,
    );
  const trimmed = text.trim();
  const [, tool, behind] = /^([A-Za-z_][\w-]*)([\s\S]*)$/.exec(trimmed) ?? [];
  if (tool === undefined || behind === undefined) throw wrong("does not begin with the name of a tool");
  if (behind === "") return { text: trimmed, tool };
  if (/^\s/.test(behind))
    throw new RuleError(
      `the rule "${text}" is a command, not a tool: write bash(${commandPattern(trimmed)})`,
    );
  if (!behind.startsWith("(")) throw wrong("has something other than (…) after the tool's name");
  if (!behind.endsWith(")")) throw wrong("has no closing parenthesis");
  const pattern = behind.slice(1, -1).trim();
  if (pattern === "") throw wrong("has nothing between its parentheses");
  return { text: trimmed, tool, pattern };
}

function commandPattern(text: string): string {
  return text.replace(/\s+\*$/, ":*");
}
