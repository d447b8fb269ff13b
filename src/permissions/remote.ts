/** Decides whether a tool of a server may be called. Pure. */

import type { Access } from "../core/ports.ts";
import { toolNames } from "../core/tool-calls.ts";
import { serverCalls } from "./bash/server-calls.ts";
import { byMode, byRule, type PermissionDecision, type PermissionQuery, refused } from "./decision.ts";
import { parseRule, type Rule } from "./parse-rule.ts";
import { globExpression } from "./paths.ts";

type RemoteAccess = Extract<Access, { kind: "remote" }>;
type CommandAccess = Extract<Access, { kind: "execute" }>;

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

/**
 * Adds to the decision on a command the tools that it calls by the command `mcp`: each is decided as if it were called by
 * the model, and the strictest decision counts.
 */
export function withServerCalls(
  query: PermissionQuery,
  { command }: CommandAccess,
  ofCommand: PermissionDecision,
): PermissionDecision {
  const { servers, parse } = query;
  if (!servers || ofCommand.decision === "deny") return ofCommand;
  const { named, unclear } = serverCalls(command, servers.names, parse);
  if (unclear[0] !== undefined)
    return refused(
      `a command calls a tool of a server only where both names are written out, as in mcp ${servers.names[0] ?? "server"} tool; this says ${unclear[0]}`,
    );
  const decisions = named.map(({ server, tool }) => {
    const access = { kind: "remote" as const, server, tool, readOnly: servers.readsOnly(server, tool) };
    const decision = decideRemote({ ...query, toolName: toolNames.mcp }, access);
    return { name: `${server}/${tool}`, decision };
  });
  const first = (wanted: PermissionDecision["decision"]) =>
    decisions.find(({ decision }) => decision.decision === wanted)?.decision;
  const [denied, asked, allowed] = [first("deny"), first("ask"), first("allow")];
  if (denied) return denied;
  if (!asked)
    return allowed && ofCommand.by === "mode" && ofCommand.decision === "allow" ? allowed : ofCommand;
  const open = decisions.flatMap(({ name, decision }) => (decision.decision === "ask" ? [name] : []));
  const reason = `Calling ${[...new Set(open)].join(", ")} needs permission.`;
  return { ...asked, reason: ofCommand.decision === "ask" ? `${reason} ${ofCommand.reason}` : reason };
}
