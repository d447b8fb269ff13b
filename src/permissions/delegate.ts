/** Decides about sub-agents: which sessions have them, and what of the rules they inherit. Pure. */

import type { Access } from "../core/ports.ts";
import { toolNames } from "../core/tool-calls.ts";
import { byMode, byRule, type PermissionDecision, type PermissionQuery } from "./decision.ts";
import { parseRule } from "./parse-rule.ts";

/** The pattern of the rule `delegate(write)`. */
const writing = "write";
/** Kinds of rules that a sub-agent does not inherit: it reaches no hosts and no servers, and publishes no ports. */
const notInherited: readonly string[] = ["host", "fetch", "mcp", "port", toolNames.delegate];

/** Returns true when rules let a session delegate at all. */
export function offersDelegates(allow: readonly string[], deny: readonly string[]): boolean {
  return isNamed(allow) && !deny.map(parseRule).some(isWholeTool);
}

/** Returns true when a rule lets sub-agents write, and none denies it. */
export function delegatesWrite(allow: readonly string[], deny: readonly string[]): boolean {
  const rules = allow.map(parseRule).filter(({ tool }) => tool === toolNames.delegate);
  return rules.some(({ pattern }) => pattern === writing) && !isNamed(deny);
}

/** Returns the allow rules that count for a sub-agent: to read files, and for one that writes nearly all. */
export function inheritedRules(allow: readonly string[], writes: boolean): string[] {
  return allow.filter((text) => {
    const { tool } = parseRule(text);
    return writes ? !notInherited.includes(tool) : tool === "read";
  });
}

/** Decides whether a sub-agent may be started. Each of its calls is decided by itself. */
export function decideDelegate(
  query: PermissionQuery,
  { writes }: Extract<Access, { kind: "delegate" }>,
): PermissionDecision {
  const denied = query.deny.find((rule) => rule.tool === query.toolName && (writes || isWholeTool(rule)));
  if (denied) return byRule("deny", denied);
  const allowed = query.allow.find((rule) => rule.tool === query.toolName);
  if (allowed) return byRule("allow", allowed);
  return byMode(query, "allow", "Each call of a sub-agent is decided by itself.");
}

function isNamed(rules: readonly string[]): boolean {
  return rules.map(parseRule).some(({ tool }) => tool === toolNames.delegate);
}

function isWholeTool({ tool, pattern }: { tool: string; pattern?: string }): boolean {
  return tool === toolNames.delegate && pattern === undefined;
}
