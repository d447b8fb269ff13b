/** The permission decision, and who settles what it leaves open: a person, or the rule that nobody can be asked. */

import type { Agent, Permission } from "../agent/agent.ts";
import { decidePermission, type PermissionDecision, type PermissionInput } from "../core/permission.ts";
import type { StandingRules } from "../core/permission-rule.ts";
import type { Person } from "./run.ts";
import type { ParserFor } from "./wire-parser.ts";

type Rules = Omit<PermissionInput, "toolName" | "access" | "parse"> & {
  parser: ParserFor;
  standing: Pick<StandingRules, "list">;
};

/** For `Agent.permit` without a person at the screen. `rules` is asked at each call: the shell's folder changes. */
export function permitHeadless(rules: () => Rules): Agent["permit"] {
  return permitBy(rules, async ({ reason, suggestion, rule }) => {
    const way = suggestion ? ` It would be allowed by --allow '${suggestion}'.` : "";
    const text = `${reason} Nobody is here to be asked.${way} Go on with what is allowed, or say what you need.`;
    return { decision: "deny", rule: suggestion ?? rule, by: "headless", asked: { reason }, reason: text };
  });
}

/** The same with a person, whose words reach the model where the answer is no. */
export function permitAsking(
  rules: () => Rules,
  ask: Person["ask"],
  { places, add }: StandingRules,
): Agent["permit"] {
  return permitBy(rules, async (open, toolName, input, signal) => {
    const { reason, suggestion } = open;
    const answer = await ask({ toolName, input, reason, suggestion, places }, signal);
    const made = { rule: suggestion ?? open.rule, by: "user" as const };
    if (answer.decision === "allow") {
      const { remember } = answer;
      if (remember) add(remember.rule, remember.scope);
      return { decision: "allow", ...made, asked: { reason, ...(remember ? { remembered: remember } : {}) } };
    }
    const { say } = answer;
    const unanswered = signal.aborted && !say;
    const asked = { reason, ...(say ? { say } : {}), ...(unanswered ? { unanswered } : {}) };
    const text = say
      ? `The user did not allow this, and says what to do instead: ${say}`
      : "The user did not allow this.";
    return { decision: "deny", ...made, asked, reason: text };
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
    const { parser, standing, ...inForce } = rules();
    const { mode } = inForce;
    const parse = await parser(access);
    const decided = decidePermission({ ...inForce, toolName: tool.name, access, parse });
    const { decision, rule, by, reason } = decided;
    if (decision === "ask") return { ...(await settle(decided, tool.name, input, signal)), mode };
    const kept =
      by === "rule"
        ? standing.list().find((one) => one.kind === decision && one.rule.trim() === rule)
        : undefined;
    const record = { rule, by, mode, ...(kept ? { scope: kept.scope } : {}) };
    return decision === "deny" ? { decision, ...record, reason } : { decision, ...record };
  };
}
