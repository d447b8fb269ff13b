/** Reads the newest steps of a log backwards, so that the cost depends on how far it looks. Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent, Topic } from "../../core/events.ts";
import { callLine, touchesOf } from "../../core/tool-calls.ts";

type Result = EventOf<"tool_result">;
/** A call that has its result. */
export type Ran = { call: ToolUseBlock; result: Result };
export type Step = { reply: EventOf<"assistant_message">; ran: Ran[] };

/**
 * Returns up to `limit` steps before the index `before`, newest first, back to the first event that `until` accepts.
 */
export function newestSteps(
  events: readonly LogEvent[],
  limit: number,
  until: (event: LogEvent) => boolean,
  before = events.length,
): Step[] {
  const steps: Step[] = [];
  let results: Result[] = [];
  for (let index = before - 1; index >= 0 && steps.length < limit; index--) {
    const event = events[index] as LogEvent;
    if (until(event)) break;
    if (event.type === "tool_result") results.push(event);
    if (event.type !== "assistant_message") continue;
    steps.push({ reply: event, ran: paired(event, results) });
    results = [];
  }
  return steps;
}

function paired(reply: Step["reply"], results: readonly Result[]): Ran[] {
  return reply.content.filter(isToolUse).flatMap((call) => {
    const result = results.find((each) => each.toolUseId === call.id);
    return result ? [{ call, result }] : [];
  });
}

/** Returns true for a user message or the end of a turn: earlier steps no longer count. */
export function isFreshStart(event: LogEvent): boolean {
  return event.type === "user_message" || event.type === "turn_ended";
}

/**
 * Counts replies, or calls in them, since the newest event that `mark` accepts. Looks back over at most `limit` of
 * them; infinite when there is no such event in the log.
 */
export function countSince(
  events: readonly LogEvent[],
  { mark, limit, unit }: { mark: (event: LogEvent) => boolean; limit: number; unit: "replies" | "calls" },
): number {
  let count = 0;
  for (let index = events.length - 1; index >= 0 && count < limit; index--) {
    const event = events[index] as LogEvent;
    if (mark(event)) return count;
    if (event.type !== "assistant_message") continue;
    count += unit === "replies" ? 1 : event.content.filter(isToolUse).length;
  }
  return count < limit ? Number.POSITIVE_INFINITY : count;
}

/** Returns true when the event is a reminder about one of these topics. */
export function isAbout(event: LogEvent, ...topics: Topic[]): boolean {
  return event.type === "reminder" && (event.about?.some((topic) => topics.includes(topic)) ?? false);
}

/** Returns true when two results are equal, apart from the names of their artifacts. */
export function isSameOutcome(result: Result, other: Result): boolean {
  if (result.isError !== other.isError) return false;
  if (
    typeof result.content !== "string" ||
    typeof other.content !== "string" ||
    result.artifact ||
    other.artifact
  )
    return outcome(result) === outcome(other);
  return result.content === other.content;
}

function outcome({ content, artifact }: Result): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return artifact ? text.replaceAll(artifact, "") : text;
}

/** Returns true when the call changed a file: it says so, or it writes files and succeeded. */
export function isEdit({ call, result }: Ran): boolean {
  if (result.stats?.wrote?.length) return true;
  return !result.isError && touchesOf(call, result.call).kind === "writes";
}

/** Returns a text field of a call's input; "" when it is absent. */
export function fieldOf(call: ToolUseBlock, name: string): string {
  const value = (call.input as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === "string" ? value : "";
}

/** Describes the call in one short line: `bash: npm test`. */
export function shortLine(call: ToolUseBlock): string {
  return callLine(call, 100);
}
