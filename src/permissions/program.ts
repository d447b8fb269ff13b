/** Decides whether a tool of the program that the agent is part of may be called. Pure. */

import type { Access } from "../core/ports.ts";
import { byMode, byRule, type PermissionDecision, type PermissionQuery } from "./decision.ts";

/** Decides by a rule with the tool's name, then by the mode. */
export function decideProgram(
  query: PermissionQuery,
  { readOnly }: Extract<Access, { kind: "program" }>,
): PermissionDecision {
  const { toolName: name, mode } = query;
  const covers = ({ tool, pattern }: { tool: string; pattern?: string }) =>
    tool === name && pattern === undefined;
  const denied = query.deny.find(({ tool }) => tool === name);
  if (denied) return byRule("deny", denied);
  const allowed = query.allow.find(covers);
  if (allowed) return byRule("allow", allowed);
  if (readOnly) return byMode(query, "allow", `${name} changes nothing, by the word of the program.`);
  switch (mode) {
    case "auto":
      return byMode(query, "allow", "Auto mode allows it.");
    case "plan":
      return byMode(query, "deny", "Plan mode calls no tools that change something.", name);
    case "accept-edits":
    case "ask":
      return byMode(query, "ask", `Calling ${name} needs permission.`, name);
  }
}
