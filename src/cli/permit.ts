/** The permission decision, and who settles what it leaves open: a person, or the rule that nobody can be asked. */

import type { Agent, Permission } from "../agent/agent.ts";
import { decidePermission, type PermissionDecision, type PermissionInput } from "../core/permission.ts";
import type { StandingRules } from "../core/permission-rule.ts";
import type { Person } from "./run.ts";
import type { ParserFor } from "./wire-parser.ts";

type Rules = Omit<PermissionInput, "toolName" | "access" | "parse"> & { parser: ParserFor };

/** For `Agent.permit` without a person at the screen. `rules` is asked at each call: the shell's folder changes. */
export function permitHeadless(rules: () => Rules): Agent["permit"] {
  return permitBy(rules, async ({ reason, suggestion, rule }) => {
    const way = suggestion ? ` It would be allowed by --allow '${suggestion}'.` : "";
    const text = `${reason} Nobody is here to be asked.${way} Go on with what is allowed, or say what you need.`;
    return { decision: "deny", rule: suggestion ?? rule, by: "headless", reason: text };
  });
}

/** The same with a person, whose words reach the model where the answer is no. */
export function permitAsking(
  rules: () => Rules,
  ask: Person["ask"],
  { places, add }: StandingRules,
): Agent["permit"] {
  return permitBy(rules, async ({ reason, suggestion, rule }, toolName, input, signal) => {
    const answer = await ask({ toolName, input, reason, suggestion, places }, signal);
    if (answer.decision === "allow") {
      if (answer.remember) add(answer.remember.rule, answer.remember.scope);
      return { decision: "allow" };
    }
    const text = answer.say
      ? `The user did not allow this, and says what to do instead: ${answer.say}`
      : "The user did not allow this.";
    return { decision: "deny", rule: suggestion ?? rule, by: "user", reason: text };
  });
}

type Settle = (
  open: PermissionDecision,
  toolName: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<Permission>;

function permitBy(rules: () => Rules, settle: Settle): Agent["permit"] {
  return async (tool, input, signal): Promise<Permission> => {
    const access = tool.access(input);
    const { parser, ...inForce } = rules();
    const parse = await parser(access);
    const decided = decidePermission({ ...inForce, toolName: tool.name, access, parse });
    const { decision, rule, by, reason } = decided;
    switch (decision) {
      case "allow":
        return { decision };
      case "deny":
        return { decision, rule, by, reason };
      case "ask":
        return settle(decided, tool.name, input, signal);
    }
  };
}
