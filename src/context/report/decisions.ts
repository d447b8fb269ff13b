/** Lists a session's permission decisions as rows: the call, the decision, and who made it. Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import type { DecidedBy, DecisionRecord } from "../../core/decision.ts";
import type { LogEvent } from "../../core/events.ts";
import type { CallFacts } from "../../core/tool-calls.ts";
import { callText } from "./window.ts";

/** One decided call. `step` counts from 1 as in the table of steps. */
export type DecisionRow = {
  step: number;
  seq: number;
  toolUseId: string;
  what: string;
  record: DecisionRecord;
};

/**
 * `unrecorded`: calls without a decision in the log, from versions that did not record them. `tally`: the number of rows
 * by decision and party.
 */
export type Decisions = { rows: DecisionRow[]; unrecorded: number; tally: Map<string, number> };

/** Lists every decision as recorded at the time of the call, regardless of today's rules. */
export function decisionsOf(events: readonly LogEvent[]): Decisions {
  const reader = decisionReader();
  for (const event of events) reader.take(event);
  return reader.decisions;
}

/** Lists them event by event; a row may change until the result of its call. */
export function decisionReader(): { decisions: Decisions; take(event: LogEvent): void } {
  const decisions: Decisions = { rows: [], unrecorded: 0, tally: new Map() };
  const { rows, tally } = decisions;
  let calls = new Map<string, ToolUseBlock>();
  let decided = new Set<string>();
  let step = 0;
  const take = (event: LogEvent): void => {
    if (event.type === "model_request") step += 1;
    else if (event.type === "assistant_message") {
      calls = new Map(event.content.filter(isToolUse).map((call) => [call.id, call]));
      decided = new Set();
    } else if (event.type === "permission_decided") {
      const { seq, at: _, type: __, toolUseId, ...record } = event;
      const call = calls.get(toolUseId);
      decided.add(toolUseId);
      const party = `${record.decision} ${record.by}`;
      tally.set(party, 1 + (tally.get(party) ?? 0));
      rows.push({ step, seq, toolUseId, what: call ? callText(call) : "", record });
    } else if (event.type === "tool_result") {
      const call = calls.get(event.toolUseId);
      if (call && event.call) describeRow(rows, call, event.call);
      if (!event.rejected && !decided.has(event.toolUseId)) decisions.unrecorded += 1;
    }
  };
  return { decisions, take };
}

/** Adds the facts of a call, which come with its later result. */
function describeRow(rows: readonly DecisionRow[], call: ToolUseBlock, facts: CallFacts): void {
  const row = rows.findLast(({ toolUseId }) => toolUseId === call.id);
  if (row) row.what = callText(call, facts);
}

const parties: Record<DecidedBy, string> = {
  mode: "by the mode",
  rule: "by a rule",
  always: "in every mode",
  user: "by the user",
  driver: "by the driving program",
  headless: "nobody could be asked",
  changed: "changed tools that nobody looked at",
  hook: "by a hook",
  fix: "outside of the project",
  delegate: "beyond the rights of a sub-agent",
};

/** Counts the decisions by outcome and by who made them: `4 allowed (3 by the mode, 1 by the user), none denied`. */
export function decisionCounts({ rows, unrecorded, tally }: Decisions): string {
  if (rows.length === 0) return "not recorded in this log";
  const counted = (decision: "allow" | "deny", word: string): string => {
    const some = Object.entries(parties).flatMap(([party, words]) => {
      const number = tally.get(`${decision} ${party}`) ?? 0;
      return number > 0 ? [{ number, words }] : [];
    });
    const all = some.reduce((sum, { number }) => sum + number, 0);
    const by = some.map(({ number, words }) => `${number} ${words}`);
    return all === 0 ? `none ${word}` : `${all} ${word} (${by.join(", ")})`;
  };
  const missing = unrecorded > 0 ? [`${unrecorded} not recorded`] : [];
  return [counted("allow", "allowed"), counted("deny", "denied"), ...missing].join(", ");
}

/** Returns the notable decisions: somebody was asked, or the call was denied. */
export function notableDecisions({ rows }: Decisions): DecisionRow[] {
  return rows.filter(({ record }) => record.asked !== undefined || record.decision === "deny");
}
