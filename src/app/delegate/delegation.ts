/** Sub-agents of a session: which sessions have them, how many run at once. What runs one is loaded with the first. */

import type { Skill } from "../../config/skills/skill.ts";
import type { EventLog, ToolContext, ToolOutput } from "../../core/ports.ts";
import { started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { delegatesWrite, offersDelegates } from "../../permissions/delegate.ts";
import { roleRules } from "../../permissions/role.ts";
import type { DelegateInput } from "../../tools/session/delegate.ts";
import type { OpenOptions } from "../session.ts";
import type { Delegating } from "./delegating.ts";
import type { PersonsDelegates, Standing } from "./options.ts";

export type Delegation = PersonsDelegates & {
  /** True where rules offer them to the model. The person may always start one. */
  isOffered: boolean;
  /** Runs a sub-agent to its end; waits while as many as may run at once do. */
  run(input: DelegateInput, context: ToolContext): Promise<ToolOutput>;
  /** Called once the session is put together. */
  begin(parts: Omit<Delegating, "held">): void;
};

/** Sub-agents of a session that may run at once. */
const mostAtOnce = 3;

/**
 * Returns the sub-agents of a session; undefined for a sub-agent, which has none. A stored session keeps the tools that it
 * began with.
 */
export function delegationOf(
  { log }: { log: EventLog },
  options: OpenOptions,
  standing: Standing,
): Delegation | undefined {
  const rules = () => [[...standing.allow(), ...standing.allowEverywhere()], standing.deny()] as const;
  if (options.delegate) return undefined;
  let parts: Delegating | undefined;
  const slots = slotsOf(mostAtOnce);
  const run = async (input: DelegateInput, context: ToolContext, byPerson: boolean): Promise<ToolOutput> => {
    const free = await slots.take(context.signal);
    if (!free) return { content: "[cancelled by user]", isError: true, rejected: "cancelled" };
    try {
      if (!parts) throw new Error("a call before the session was put together");
      const { runDelegate } = await import("./run-delegate.ts");
      return await runDelegate(input, context, parts, byPerson);
    } finally {
      free();
    }
  };
  return {
    isOffered: isOffered(log, rules()),
    mayWrite: (role) =>
      delegatesWrite(...rules()) && (role === undefined || mayRoleWrite(parts?.skills.role(role))),
    begin(given) {
      parts = { ...given, held: new Map() };
    },
    run: (input, context) => run(input, context, false),
    runForPerson: (input, context) => run(input, context, true),
  };
}

/** Returns true when a role names a tool that may write; one that names none may use all. */
function mayRoleWrite(role: Skill | undefined): boolean {
  const tools = role?.fork?.tools;
  return tools === undefined || roleRules(tools).length > 0;
}

function isOffered(log: EventLog, rules: readonly [readonly string[], readonly string[]]): boolean {
  const events = log.events();
  if (events.length > 0) return started(events).tools.some(({ name }) => name === toolNames.delegate);
  return offersDelegates(...rules);
}

/** Hands out a number of slots, in the order of asking. `take` resolves with how to free it; undefined when aborted. */
function slotsOf(count: number): { take(signal: AbortSignal): Promise<(() => void) | undefined> } {
  let left = count;
  const waiting: (() => void)[] = [];
  const free = (): void => {
    left += 1;
    for (const look of waiting.splice(0)) look();
  };
  return {
    async take(signal) {
      while (left === 0 && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
        await promise;
      }
      if (signal.aborted) return undefined;
      left -= 1;
      return free;
    },
  };
}
