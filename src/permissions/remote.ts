/** Decides whether a tool of a server may be called. Pure. */

import type { Access } from "../core/ports.ts";
import { toolNames } from "../core/tool-calls.ts";
import { byMode, byRule, type PermissionDecision, type PermissionQuery } from "./decision.ts";
import { globExpression } from "./paths.ts";
import { parseRule, type Rule } from "./rules.ts";

type RemoteAccess = Extract<Access, { kind: "remote" }>;

/** Decides by the rules `mcp(server/tool)`, then by the mode. */
export function decideRemote(query: PermissionQuery, access: RemoteAccess): PermissionDecision {
  const name = `${access.server}/${access.tool}`;
  const covers = (rule: Rule) => rule.tool === query.toolName && coversTool(rule, name);
  const denied = query.deny.find(covers);
  if (denied) return byRule("deny", denied);
  const allowed = query.allow.find(covers);
  if (allowed) return byRule("allow", allowed);
  const suggestion = /^[^\s()*?[\]]+$/.test(name) ? `mcp(${name})` : undefined;
  if (access.readOnly) return byMode(query, "allow", `${name} only reads, by the word of a trusted server.`);
  switch (query.mode) {
    case "auto":
      return byMode(query, "allow", "Auto mode allows it.");
    case "plan":
      return byMode(query, "deny", "Plan mode calls no tools of servers.", suggestion);
    case "accept-edits":
    case "ask":
      return byMode(query, "ask", `Calling ${name} needs permission.`, suggestion);
  }
}

/** Returns true when a rule covers a tool of a server. A `*` of the pattern stands for any characters but a slash. */
function coversTool({ pattern }: Rule, name: string): boolean {
  return pattern === undefined || globExpression(pattern).test(name);
}

/** Returns the rules, as they are written, that cover some tool of a server. Throws `RuleError`. */
export function rulesOn(server: string, rules: readonly string[]): string[] {
  return rules.filter((text) => {
    const { tool, pattern } = parseRule(text);
    if (tool !== toolNames.mcp) return false;
    return pattern === undefined || globExpression(pattern.split("/")[0] ?? "").test(server);
  });
}
