/** The rights of a sub-agent: those of the session that delegated, and fewer. */

import type { Agent, Permission } from "../../agent/agent.ts";
import { inheritedRules } from "../../permissions/delegate.ts";
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
