/** Sub-agents of a session: which sessions have them, how many run at once. What runs one is loaded with the first. */

import type { EventLog, ToolContext, ToolOutput } from "../../core/ports.ts";
import { started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { delegatesWrite, offersDelegates } from "../../permissions/delegate.ts";
import type { DelegateInput } from "../../tools/session/delegate.ts";
import type { OpenOptions } from "../session.ts";
import type { Delegating } from "./delegating.ts";
import type { Standing } from "./options.ts";

export type Delegation = {
  mayWrite(): boolean;
  /** Runs a sub-agent to its end; waits while as many as may run at once do. */
  run(input: DelegateInput, context: ToolContext): Promise<ToolOutput>;
  /** Called once the session is put together. */
  begin(parts: Omit<Delegating, "held">): void;
};

/** Sub-agents of a session that may run at once. */
const mostAtOnce = 3;

/**
 * Returns the sub-agents of a session; undefined where rules offer none. A stored session keeps the tools that it began
 * with, and a sub-agent has none.
 */
export function delegationOf(
  { log }: { log: EventLog },
  options: OpenOptions,
  standing: Standing,
): Delegation | undefined {
  const rules = () => [[...standing.allow(), ...standing.allowEverywhere()], standing.deny()] as const;
  if (options.delegate || !isOffered(log, rules())) return undefined;
  let parts: Delegating | undefined;
  const slots = slotsOf(mostAtOnce);
  return {
    mayWrite: () => delegatesWrite(...rules()),
    begin(given) {
      parts = { ...given, held: new Map() };
    },
    async run(input, context) {
      const free = await slots.take(context.signal);
      if (!free) return { content: "[cancelled by user]", isError: true, rejected: "cancelled" };
      try {
        if (!parts) throw new Error("a call before the session was put together");
        const { runDelegate } = await import("./run-delegate.ts");
        return await runDelegate(input, context, parts);
      } finally {
        free();
      }
    },
  };
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
