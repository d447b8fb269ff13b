/** Decides after each reply whether the turn goes on, and takes in what was said meanwhile. */

import { asReminder } from "../context/reminders/wording.ts";
import type { ToolUseBlock } from "../core/blocks.ts";
import type { EventOf, TurnEnd, UserMessage } from "../core/events.ts";
import { isPaused } from "../core/questions.ts";
import { wellFormedValue } from "../core/text/clean-text.ts";
import type { Agent } from "./agent.ts";

/**
 * Counts of one turn: replies in a row that were cut, or that the API paused, and times that the model had to go on
 * although it was done.
 */
export type TurnCounts = { cutReplies: number; pauses: number; sentBack: number };

/** An end, and its detail. */
type End = [reason: TurnEnd, detail?: string];

/** A reply whose calls have run. */
type Answered = {
  reply: EventOf<"assistant_message">;
  calls: readonly ToolUseBlock[];
  counts: TurnCounts;
  signal: AbortSignal;
};

/** Replies in a row that may be cut by their length before the turn ends. */
const maxCutReplies = 3;
/** Replies in a row that the API may pause, each after searches that are paid, before the turn ends. */
const maxPauses = 10;
const cutReplyNote =
  "Your last reply was cut off at its length limit, and any tool call in it was not run. Go on in smaller pieces: " +
  "split large files or commands over several calls.";

const pausedNote = "Your last reply was paused before it was whole. Go on where it ended.";

/** Returns why the turn ends after a reply; undefined when it goes on. */
export async function endAfter(agent: Agent, answered: Answered): Promise<End | undefined> {
  const { reply, calls, counts, signal } = answered;
  if (signal.aborted) return stopped(signal);
  const stop = agent.takeStop?.();
  if (stop !== undefined) return ["hook", stop];
  if (agent.isDone?.()) return ["completed"];
  if (reply.stopReason === "max_tokens") return endOfCut(agent, counts);
  if (calls.length > 0) {
    counts.cutReplies = 0;
    counts.pauses = 0;
    return undefined;
  }
  if (reply.stopReason === "pause_turn") return goOn(agent, counts);
  counts.pauses = 0;
  const end = restOf(reply);
  if (end[0] !== "completed") return end;
  if ((await takeInput(agent)) || (await isSentBack(agent, counts, signal))) return undefined;
  return signal.aborted ? stopped(signal) : end;
}

/** Takes steering and notices into the log between steps. Returns true when there was steering. */
export async function takeInput(agent: Agent): Promise<boolean> {
  for (const text of agent.takeNotices()) tell(agent, text);
  const messages = await agent.takeSteering();
  for (const message of messages)
    agent.log.append({ type: "user_message", ...(wellFormedValue(message) as UserMessage) });
  return messages.length > 0;
}

/** Why the signal was aborted: its reason is `max_time` when the clock did it, else the user did. */
export function stopped(signal: AbortSignal): [TurnEnd, string] {
  return signal.reason === "max_time"
    ? ["max_time", "the time limit was reached"]
    : ["interrupted", "stopped by the user"];
}

function endOfCut(agent: Agent, counts: TurnCounts): End | undefined {
  if (++counts.cutReplies > maxCutReplies) return ["output_limit", "the reply was cut off four times"];
  tell(agent, cutReplyNote);
  return undefined;
}

/** A reply that was paused in its searches is sent back as it is; one that ends otherwise needs a word behind it. */
function goOn(agent: Agent, counts: TurnCounts): End | undefined {
  counts.pauses += 1;
  if (counts.pauses > maxPauses)
    return ["output_limit", `the API paused the reply ${counts.pauses} times in a row`];
  if (!isPaused(agent.log.events())) tell(agent, pausedNote);
  return undefined;
}

/** Returns true when the model has to go on although it is done; the reason is in the log. */
async function isSentBack(agent: Agent, counts: TurnCounts, signal: AbortSignal): Promise<boolean> {
  const reason = await agent.beforeEnd?.(counts.sentBack, signal);
  if (reason === undefined) return false;
  counts.sentBack += 1;
  tell(agent, agent.redact(reason));
  return true;
}

function tell(agent: Agent, text: string): void {
  agent.log.append({ type: "reminder", channel: "logged", text: asReminder(text) });
}

function restOf(reply: EventOf<"assistant_message">): End {
  switch (reply.stopReason) {
    case "refusal":
      return ["refusal", "the model refused to continue"];
    case "model_context_window_exceeded":
      return ["context_full", "the reply did not fit into the model's window"];
    default:
      return ["completed"];
  }
}
