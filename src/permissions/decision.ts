/** Builds decisions and words their reasons. Pure. */

import type { PermissionDecision, PermissionQuery } from "./decide.ts";
import { isInside } from "./paths.ts";
import type { Rule } from "./rules.ts";

export function byRule(decision: "allow" | "deny", { text }: Rule): PermissionDecision {
  const reason = decision === "allow" ? `The rule ${text} allows this.` : `The rule ${text} denies this.`;
  return { decision, rule: text, by: "rule", reason };
}

export function byMode(
  { mode }: PermissionQuery,
  decision: PermissionDecision["decision"],
  reason: string,
  suggestion?: string,
): PermissionDecision {
  return { decision, rule: mode, by: "mode", reason, ...(suggestion ? { suggestion } : {}) };
}

export function refused(why: string): PermissionDecision {
  return { decision: "deny", rule: "refused always", by: "always", reason: `Refused in every mode: ${why}.` };
}

export function isKnown({ workspace, readable }: PermissionQuery, path: string): boolean {
  return [...workspace, ...readable].some((folder) => isInside(path, folder));
}
