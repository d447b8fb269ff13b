/** The report of a sub-agent as the result of its call: in the form of a fold, with paths. Pure. */

import { commandOf } from "../../context/handoff/handoff.ts";
import type { EventOf, LogEvent, TurnEnd } from "../../core/events.ts";
import type { ToolOutput } from "../../core/ports.ts";
import { allOf, changedFiles, started } from "../../core/questions.ts";
import { withoutTags } from "../../core/text/tags.ts";
import type { DelegateReport } from "../../tools/session/delegate.ts";

type Ended = {
  reason: TurnEnd;
  detail?: string | undefined;
  /** As it was handed in; undefined where it did not come to that. */
  report: DelegateReport | undefined;
  economics: EventOf<"delegate_ended">["economics"];
};

const shownCalls = 30;
const saidCharacters = 2000;

/** Returns the result. Without a report facts from the log replace it, and an end before the work was done is an error. */
export function outcomeOf(events: readonly LogEvent[], ended: Ended): ToolOutput {
  const { reason, detail, report } = ended;
  const { sessionId } = started(events);
  const wrote = changedFiles(events);
  const isDone = report !== undefined || reason === "completed";
  const why = detail ? `${reason}: ${detail}` : reason;
  const head = isDone
    ? `Sub-agent ${sessionId} reports:`
    : `Sub-agent ${sessionId} ended before its report (${why}).`;
  const lines = [
    head,
    ...(report ? reportLines(report) : factLines(events)),
    ...(wrote.length > 0 ? [`Files changed: ${wrote.join(", ")}`] : []),
    ...deniedLines(events),
    `[${amounts(ended)}; ${whereabouts(events)}]`,
  ];
  return {
    content: withoutTags(lines.join("\n")),
    ...(isDone ? {} : { isError: true }),
    stats: { ...(wrote.length > 0 ? { wrote } : {}), durationMs: durationOf(events) },
  };
}

function reportLines({ attempted, learned, outcome }: DelegateReport): string[] {
  return [`Attempted: ${attempted}`, `Learned: ${learned}`, `Outcome: ${outcome}`];
}

/** Lists the logged calls and the last text, which stand for what was not written down. */
function factLines(events: readonly LogEvent[]): string[] {
  const results = allOf(events, "tool_result");
  const done = results.map((event) => `- ${commandOf(events, event)}${event.isError ? " → failed" : ""}`);
  const said = events.findLast((event) => event.type === "assistant_message");
  const last = (said?.content ?? [])
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim()
    .slice(0, saidCharacters)
    .toWellFormed();
  return [
    ...(done.length > shownCalls ? [`Done (the last ${shownCalls} of ${done.length} calls):`] : []),
    ...(done.length > 0 && done.length <= shownCalls ? ["Done:"] : []),
    ...done.slice(-shownCalls),
    ...(last ? [`Said last: ${last}`] : []),
  ];
}

function deniedLines(events: readonly LogEvent[]): string[] {
  const denied = allOf(events, "permission_decided").filter(({ decision }) => decision === "deny");
  const rules = [...new Set(denied.map(({ rule }) => rule))].slice(0, 5).join(", ");
  return denied.length > 0 ? [`Not permitted to it: ${denied.length} of its calls (${rules})`] : [];
}

function amounts({ economics: { calls, apartUsd } }: Ended): string {
  return `${calls} model ${calls === 1 ? "call" : "calls"}${apartUsd > 0 ? `, $${apartUsd.toFixed(4)}` : ""}`;
}

function whereabouts(events: readonly LogEvent[]): string {
  const { folder } = started(events);
  const files = allOf(events, "tool_result").flatMap(({ artifact }) => artifact ?? []);
  const [first, last] = [files[0], files.at(-1)];
  const outputs =
    first === undefined ? "" : first === last ? `; output: ${first}` : `; outputs: ${first} to ${last}`;
  return `its log: ${folder}/events.jsonl${outputs}`;
}

function durationOf(events: readonly LogEvent[]): number {
  return (events.at(-1)?.at ?? 0) - (events[0]?.at ?? 0);
}
