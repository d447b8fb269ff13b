/** The rights of a sub-agent: those of the session that delegated, and fewer. */

import type { Agent, Permission } from "../../agent/agent.ts";
import type { Delegated } from "../../core/events.ts";
import { decidePermission } from "../../permissions/decide.ts";
import type { PermissionInput } from "../../permissions/decision.ts";
import { inheritedRules } from "../../permissions/delegate.ts";
import { roleRules } from "../../permissions/role.ts";
import { parserFor } from "../bash-grammar.ts";
import type { Standing } from "./options.ts";

/** The rule that lets sub-agents write. */
const writeRule = "delegate(write)";

/** Denies delegating further, and where it only reads whatever may write. */
export function permitDelegate(permit: Agent["permit"], writes: boolean): Agent["permit"] {
  return async (call, signal): Promise<Permission> => {
    const { kind } = call.access;
    if (kind === "delegate") return denied("delegate", "A sub-agent cannot delegate.");
    if (kind === "write" && !writes) return denied(writeRule, onlyReads);
    const permission = await permit(call, signal);
    if (writes || permission.decision === "allow" || permission.by !== "mode") return permission;
    return { ...permission, ...denied(writeRule, `${permission.reason} ${onlyReads}`) };
  };
}

/**
 * Denies what the role does not name: a call runs where it is free to read with, or one of `rules` (those of its
 * `allowed-tools`) allows it, and the rules and the mode of the session allow it too.
 */
export function permitRole(
  permit: Agent["permit"],
  { role = "", tools }: Pick<Delegated, "role" | "tools">,
  inForce: () => Omit<PermissionInput, "toolName" | "access" | "parse">,
): Agent["permit"] {
  if (!tools) return permit;
  const allow = roleRules(tools);
  const why = `The role ${role} does not name this in its allowed-tools: ${tools.join(", ")}.`;
  return async (call, signal) => {
    const { tool, access } = call;
    const narrow = { mode: "ask" as const, allow, allowEverywhere: [], deny: [], sandbox: undefined };
    const parse = await parserFor(access);
    const { decision } = decidePermission({ ...inForce(), ...narrow, toolName: tool.name, access, parse });
    return decision === "ask" ? denied(`${role}(allowed-tools)`, why) : permit(call, signal);
  };
}

const onlyReads = "This sub-agent only reads: say in your report what is to be changed.";

function denied(rule: string, reason: string): Extract<Permission, { decision: "deny" }> {
  return { decision: "deny", rule, by: "delegate", reason };
}

/** The rules of the session that delegated, as far as they count for its sub-agent. Changes of them count at once. */
export function inherited(standing: Standing, writes: boolean): Standing {
  return {
    ...standing,
    allow: () => inheritedRules(standing.allow(), writes),
    allowEverywhere: () => inheritedRules(standing.allowEverywhere(), writes),
  };
}
