/** The tools that a role names (`allowed-tools`), as rules: they narrow what a sub-agent may do and never widen it. Pure. */

import { toolNames } from "../core/tool-calls.ts";
import { parseRule } from "./parse-rule.ts";
import { RuleError } from "./rule-error.ts";

/** Names of tools that write files, in the words of Claude Code and ours. */
const writing: readonly string[] = ["edit", "write", "multiedit", "notebookedit", toolNames.editor];

/**
 * Returns the rules that the entries stand for, in the words of Claude Code or ours. Reading files needs none; an entry
 * that is no tool of a sub-agent, or cannot be read, permits nothing.
 */
export function roleRules(entries: readonly string[]): string[] {
  return entries.flatMap((entry) => {
    const [, name = "", pattern] = /^([\w-]+)(?:\(([\s\S]*)\))?$/.exec(entry.trim()) ?? [];
    const tool = name.toLowerCase();
    const kind = writing.includes(tool) ? "edit" : tool === toolNames.bash ? toolNames.bash : undefined;
    if (kind === undefined) return [];
    const wanted = pattern?.trim().replace(/(?<!:)\s+\*$/, ":*");
    const rule = wanted === undefined || wanted === "" || wanted === "*" ? kind : `${kind}(${wanted})`;
    return isRule(rule) ? [rule] : [];
  });
}

function isRule(text: string): boolean {
  try {
    parseRule(text);
    return true;
  } catch (error) {
    if (error instanceof RuleError) return false;
    throw error;
  }
}
