/** Drives the planner over the session's log: appends what it yields, and asks a model for the prose of a summary. */

import { type Planned, type PlannedLog, type Planning, planStep } from "../context/policies/planner.ts";
import type { ViewReader } from "../context/view/view.ts";
import type { Agent } from "./agent.ts";
import { reachedLimit } from "./limits.ts";
import { askForProse } from "./summarize.ts";

/** Lets each policy in turn forget what is due, within the limits of the session. */
export function applyPlans(agent: Agent, reader: ViewReader, signal: AbortSignal): Promise<Planned> {
  const { policies } = agent;
  const planning = planStep(plannedLog(agent, signal), {
    policies,
    reader,
    // A summary is a call like any other: none is made that would pass a limit.
    mayAsk: (composed) => reachedLimit(agent, composed) === undefined,
  });
  return carryOut(agent, planning, signal);
}

/** The session's log as the planner reads it. */
export function plannedLog({ log, clock }: Agent, signal: AbortSignal): PlannedLog {
  return { events: () => log.events(), now: () => clock(), isInterrupted: () => signal.aborted };
}

/** Runs a planner to its end. */
export async function carryOut<Result>(
  agent: Agent,
  planning: Planning<Result>,
  signal: AbortSignal,
): Promise<Result> {
  let step = planning.next();
  while (!step.done) {
    const request = step.value;
    if (request.type === "append") {
      agent.log.append(request.event);
      step = planning.next();
    } else step = planning.next(await askForProse(agent, request, signal));
  }
  return step.value;
}
