/** The loop: plan, compose, send, run the calls, append; until the model is done or something stops it. */

import type { Planned } from "../context/policies/planner.ts";
import { type Composed, composeRequest } from "../context/request/compose.ts";
import type { PreviousRequest } from "../context/rules/sequence.ts";
import { type View, type ViewReader, viewReader } from "../context/view/view.ts";
import { isToolUse } from "../core/blocks.ts";
import type { TurnEnd } from "../core/events.ts";
import { isPaused } from "../core/questions.ts";
import type { Agent, StepOutcome } from "./agent.ts";
import { overWindow, type ReachedLimit, reachedLimit } from "./limits.ts";
import { tellInstructions } from "./nested-instructions.ts";
import { applyPlans } from "./plans.ts";
import { type Checked, checkOrRepair } from "./repair.ts";
import { sendStep } from "./step.ts";
import { runCalls } from "./tool-calls.ts";
import { endAfter, stopped, type TurnCounts, takeInput } from "./turn-end.ts";
import { endlessLoop, gateTools, remind } from "./watching.ts";

/** Runs one turn from the user messages in the log. Appends `turn_ended` and returns why it ended. */
export async function runTurn(agent: Agent, signal: AbortSignal): Promise<TurnEnd> {
  let reader = viewReader();
  let previous: PreviousRequest | undefined;
  const counts: TurnCounts = { cutReplies: 0, pauses: 0, sentBack: 0 };
  for (;;) {
    await takeSaid(agent);
    const planned = await applyPlans(agent, reader, signal);
    const prepared = prepareStep(agent, reader, previous, signal);
    const outcome = await makeStep(agent, prepared, planned, signal);
    if (outcome.type === "end") return endTurn(agent, outcome.reason, outcome.detail);
    if (outcome.type === "again") {
      reader = viewReader();
      continue;
    }
    const { reply } = outcome;
    // Of a request that failed nothing is known to be in the cache.
    previous = prepared.current;
    const calls = reply.content.filter(isToolUse);
    await runCalls(agent, calls, signal);
    const end = await endAfter(agent, { reply, calls, counts, signal });
    if (end) return endTurn(agent, ...end);
  }
}

/** Takes in what was said meanwhile. Behind a reply that goes on as it is nothing may stand: it waits for the next. */
async function takeSaid(agent: Agent): Promise<void> {
  if (isPaused(agent.log.events())) return;
  tellInstructions(agent);
  await takeInput(agent);
}

async function makeStep(
  agent: Agent,
  { composed, outcome }: Checked,
  planned: Planned,
  signal: AbortSignal,
): Promise<StepOutcome> {
  if (!composed) return outcome;
  const made = await sendStep(agent, composed, planned, signal);
  return made.type === "end" && made.reason === "interrupted" ? endOf(stopped(signal)) : made;
}

/**
 * Appends the reminders and the withdrawn tools that are due, and composes the request of the next step from the log
 * as it is then; or says why there is none. `before`: the request sent last.
 */
function prepareStep(
  agent: Agent,
  reader: ViewReader,
  before: PreviousRequest | undefined,
  signal: AbortSignal,
): Checked {
  if (signal.aborted) return { outcome: endOf(stopped(signal)) };
  const composed = composeNow(agent, reader);
  const end = endBefore(agent, composed);
  if (end) return { outcome: { type: "end", ...end } };
  const view = reader.read(agent.log.events());
  const told = !isPaused(agent.log.events()) && tellModel(agent, view);
  const now = told ? composeNow(agent, reader) : composed;
  return checkOrRepair(agent, now, reader.read(agent.log.events()), before);
}

/** Appends the withdrawn tools and the reminders that are due. Returns true when there were any. */
function tellModel(agent: Agent, view: View): boolean {
  const gated = gateTools(agent, view);
  return remind(agent, view) || gated;
}

/** Composes the next request from the log. */
function composeNow({ log }: Agent, reader: ViewReader): Composed {
  return composeRequest(log.events(), reader.read(log.events()));
}

/** Returns the reason to end the turn before this request: a limit, a loop, or a full window. */
function endBefore(agent: Agent, composed: Composed): ReachedLimit | undefined {
  const events = agent.log.events();
  const limit = reachedLimit(agent, composed) ?? endlessLoop(events);
  const full = limit ? undefined : overWindow(events, composed);
  return full ? { reason: "context_full", detail: full } : limit;
}

function endOf([reason, detail]: [TurnEnd, string]): StepOutcome {
  return { type: "end", reason, detail };
}

function endTurn(agent: Agent, reason: TurnEnd, detail?: string): TurnEnd {
  agent.log.append({ type: "turn_ended", reason, ...(detail ? { detail } : {}) });
  return reason;
}
