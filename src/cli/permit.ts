/** The permission decision where nobody can be asked: what would ask is denied, with the rule that would allow it. */

import type { Agent, Permission } from "../agent/agent.ts";
import { decidePermission } from "../core/permission.ts";

type Rules = Omit<Parameters<typeof decidePermission>[0], "toolName" | "access">;

/** For `Agent.permit` without a person at the screen. `rules` is asked at each call: the shell's folder changes. */
export function permitHeadless(rules: () => Rules): Agent["permit"] {
  return async (tool, input): Promise<Permission> => {
    const decided = decidePermission({ ...rules(), toolName: tool.name, access: tool.access(input) });
    const { decision, rule, by, reason, suggestion } = decided;
    switch (decision) {
      case "allow":
        return { decision };
      case "deny":
        return { decision, rule, by, reason };
      case "ask": {
        const way = suggestion ? ` It would be allowed by --allow '${suggestion}'.` : "";
        const text = `${reason} Nobody is here to be asked.${way} Go on with what is allowed, or say what you need.`;
        return { decision: "deny", rule: suggestion ?? rule, by: "headless", reason: text };
      }
    }
  };
}
