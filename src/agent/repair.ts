/**
 * Ways out of a history that the API refuses, or that breaks a rule of ours: the session goes on, and says what
 * happened.
 */

import { handoffText } from "../context/handoff/handoff.ts";
import type { Composed } from "../context/request/compose.ts";
import { type Violation, violationText } from "../context/rules/request.ts";
import { checkRequest, type PreviousRequest } from "../context/rules/sequence.ts";
import type { View } from "../context/view/view.ts";
import type { ContextEdit, LogEvent } from "../core/events.ts";
import { currentModel } from "../core/questions.ts";
import type { Agent, StepOutcome } from "./agent.ts";

/** A request that may go out, or what is done in its place. `current`: kept to check the next request against. */
export type Checked =
  | { composed: Composed; current: PreviousRequest; outcome?: undefined }
  | { outcome: StepOutcome; composed?: undefined; current?: undefined };

/**
 * Checks the next request against all rules. A violation that the API would refuse is repaired in the log, and the
 * request is composed again; one that only costs money is a warning. Never throws: the same log would throw at each
 * resume.
 */
export function checkOrRepair(
  agent: Agent,
  composed: Composed,
  view: View,
  before?: PreviousRequest,
): Checked {
  const { broken, current } = checkRequest(composed, { events: agent.log.events(), view }, before);
  if (broken.length === 0) return { composed, current };
  const refused = broken.filter(({ refusedByApi }) => refusedByApi);
  const full = refused.find(({ rule }) => rule === 4);
  if (full) return { outcome: { type: "end", reason: "context_full", detail: violationText(full) } };
  if (refused.length > 0) return { outcome: repaired(agent, refused) };
  warnOnce(agent, broken);
  if (!broken.some(({ kind }) => kind === "breakpoint")) return { composed, current };
  // Without breakpoints it is dearer, and accepted.
  return { composed: { ...composed, request: { ...composed.request, cacheAfter: [] } }, current };
}

function repaired(agent: Agent, refused: readonly Violation[]): StepOutcome {
  const what = refused.slice(0, 3).map(violationText).join("; ");
  const onlyThinking = refused.every(({ rule }) => rule === 3);
  if (repair(agent, `a request would have been refused (${what})`, { onlyThinking }))
    return { type: "again" };
  const detail = `the next request would be refused (${what}), and no repair helped: nothing is lost, but continue in a new session`;
  return { type: "end", reason: "error", detail };
}

/**
 * Repairs the history and warns; returns false when nothing is left to try. First all thinking is left out, where that
 * may help; then everything but the user's messages becomes the mechanical handoff. Each is tried once since the last
 * reply.
 */
export function repair(agent: Agent, why: string, { onlyThinking }: { onlyThinking: boolean }): boolean {
  const events = agent.log.events();
  const tried = repairsSinceReply(events);
  const first = onlyThinking && !tried.has("drop_thinking");
  const edit = first ? allThinking(events) : tried.has("collapse") ? undefined : everything(events);
  if (!edit) return false;
  const done = first ? "all thinking was left out" : "the history was rebuilt from the log";
  agent.log.append({ type: "warning", code: "history_repaired", text: `${why}: ${done}` });
  agent.log.append({ type: "context_edited", policy: "repair", reason: why, edits: [edit], economics: {} });
  return true;
}

function repairsSinceReply(events: readonly LogEvent[]): Set<ContextEdit["type"]> {
  const tried = new Set<ContextEdit["type"]>();
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "assistant_message") break;
    if (event?.type === "context_edited" && event.policy === "repair")
      for (const edit of event.edits) tried.add(edit.type);
  }
  return tried;
}

/** A free model may ask for the thinking of a running tool loop: that stays. */
function allThinking(events: readonly LogEvent[]): ContextEdit {
  const newest = events.findLast((event) => event.type === "assistant_message")?.seq ?? 0;
  const bound = currentModel(events).model.contract.history === "prefix_bound";
  return { type: "drop_thinking", to: bound ? (events.at(-1)?.seq ?? 0) : newest - 1 };
}

function everything(events: readonly LogEvent[]): ContextEdit | undefined {
  const first = events.find((event) => event.type === "user_message");
  const last = events.at(-1);
  if (!first || !last || last.seq <= first.seq) return undefined;
  return { type: "collapse", from: first.seq + 1, to: last.seq, text: handoffText(events, "") };
}

/** Warns once per rule in a session: a rule that is broken once is mostly broken again by the next request. */
function warnOnce(agent: Agent, broken: readonly Violation[]): void {
  for (const violation of broken) {
    const { rule } = violation;
    if (agent.log.events().some((event) => event.type === "warning" && event.rule === rule)) continue;
    const text = `a rule of the context engine is broken: ${violationText(violation)}`;
    agent.log.append({ type: "warning", code: "rule_broken", rule, text });
  }
}
