/** The loop: plan, compose, send, run the calls, append; until the model is done or something stops it. */

import type { Planned } from "../context/policies/planner.ts";
import { asReminder } from "../context/reminders/wording.ts";
import { type Composed, composeRequest } from "../context/request/compose.ts";
import type { PreviousRequest } from "../context/rules/sequence.ts";
import { type ViewReader, viewReader } from "../context/view/view.ts";
import { isToolUse } from "../core/blocks.ts";
import type { EventOf, TurnEnd, UserMessage } from "../core/events.ts";
import { wellFormedValue } from "../core/text/clean-text.ts";
import type { Agent, StepOutcome } from "./agent.ts";
import { overWindow, type ReachedLimit, reachedLimit } from "./limits.ts";
import { tellInstructions } from "./nested-instructions.ts";
import { applyPlans } from "./plans.ts";
import { type Checked, checkOrRepair } from "./repair.ts";
import { sendStep } from "./step.ts";
import { runCalls } from "./tool-calls.ts";
import { endlessLoop, gateTools, remind } from "./watching.ts";

/** Replies in a row that may be cut by their length before the turn ends. */
const maxCutReplies = 3;
const cutReplyNote =
  "Your last reply was cut off at its length limit, and any tool call in it was not run. Go on in smaller pieces: " +
  "split large files or commands over several calls.";

/** Runs one turn from the user messages in the log. Appends `turn_ended` and returns why it ended. */
export async function runTurn(agent: Agent, signal: AbortSignal): Promise<TurnEnd> {
  let reader = viewReader();
  let previous: PreviousRequest | undefined;
  let cutReplies = 0;
  for (;;) {
    tellInstructions(agent);
    await takeInput(agent);
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
    if (signal.aborted) return endTurn(agent, ...stopped(signal));
    if (reply.stopReason === "max_tokens") {
      if (++cutReplies > maxCutReplies)
        return endTurn(agent, "output_limit", "the reply was cut off four times");
      agent.log.append({ type: "reminder", channel: "logged", text: asReminder(cutReplyNote) });
    } else if (calls.length === 0) {
      const end = restOf(reply);
      if (end.reason !== "completed" || !(await takeInput(agent)))
        return endTurn(agent, end.reason, end.detail);
    } else cutReplies = 0;
  }
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
  const gated = gateTools(agent, view);
  const reminded = remind(agent, view);
  const now = gated || reminded ? composeNow(agent, reader) : composed;
  return checkOrRepair(agent, now, reader.read(agent.log.events()), before);
}

/** Composes the next request from the log. */
function composeNow({ log }: Agent, reader: ViewReader): Composed {
  return composeRequest(log.events(), reader.read(log.events()));
}

/** Returns the reason to end the turn before this request: a limit, a loop, or a full window. */
function endBefore({ log, limits, clock }: Agent, composed: Composed): ReachedLimit | undefined {
  const events = log.events();
  const limit = reachedLimit(events, limits, composed, clock()) ?? endlessLoop(events);
  const full = limit ? undefined : overWindow(events, composed);
  return full ? { reason: "context_full", detail: full } : limit;
}

/** Takes steering and notices into the log between steps. Returns true when there was steering. */
async function takeInput(agent: Agent): Promise<boolean> {
  const notices = agent.takeNotices();
  for (const text of notices)
    agent.log.append({ type: "reminder", channel: "logged", text: asReminder(text) });
  const messages = await agent.takeSteering();
  for (const message of messages)
    agent.log.append({ type: "user_message", ...(wellFormedValue(message) as UserMessage) });
  return messages.length > 0;
}

function restOf(reply: EventOf<"assistant_message">): { reason: TurnEnd; detail?: string } {
  switch (reply.stopReason) {
    case "refusal":
      return { reason: "refusal", detail: "the model refused to continue" };
    case "model_context_window_exceeded":
      return { reason: "context_full", detail: "the reply did not fit into the model's window" };
    default:
      return { reason: "completed" };
  }
}

/** Why the signal was aborted: its reason is `max_time` when the clock did it, else the user did. */
function stopped(signal: AbortSignal): [TurnEnd, string] {
  return signal.reason === "max_time"
    ? ["max_time", "the time limit was reached"]
    : ["interrupted", "stopped by the user"];
}

function endOf([reason, detail]: [TurnEnd, string]): StepOutcome {
  return { type: "end", reason, detail };
}

function endTurn(agent: Agent, reason: TurnEnd, detail?: string): TurnEnd {
  agent.log.append({ type: "turn_ended", reason, ...(detail ? { detail } : {}) });
  return reason;
}
