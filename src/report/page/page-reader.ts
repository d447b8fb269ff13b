/** Reads a log event by event into the texts and rows of its page; what an update costs does not grow with the log. */

import { policyInputOf } from "../../context/policies/policy-input.ts";
import { type Costs, costReader } from "../../context/report/cost.ts";
import { decisionCounts, decisionReader } from "../../context/report/decisions.ts";
import { type DelegateRow, delegateReader } from "../../context/report/delegates.ts";
import { type EditRow, editReader } from "../../context/report/edits.ts";
import { type EgressRow, egressRow } from "../../context/report/egress.ts";
import { factReader } from "../../context/report/facts.ts";
import { stepReader } from "../../context/report/steps.ts";
import { totalsReader } from "../../context/report/totals.ts";
import { walker } from "../../context/report/walk.ts";
import { windowNow } from "../../context/report/window.ts";
import { forgottenReader, forgottenText } from "../../context/reuse/forgotten.ts";
import { viewReader } from "../../context/view/view.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";
import { addEgress, egressKey } from "../../core/network/egress.ts";
import { type Changes, changeLog } from "./changes.ts";
import { html } from "./escape.ts";
import { barsOf, curveFrame, cutHtml, markHtml } from "./svg.ts";
import * as tables from "./tables.ts";
import * as words from "./words.ts";

export type PageReader = {
  /** Reads the next events of the log. */
  take(events: readonly LogEvent[]): void;
  /** Brings the texts up to date; returns false while the worth of some edits is still that of an earlier step. */
  settle(mostEdits?: number): boolean;
  changes: Changes;
};

/** A reader of the log that begins with `start`; it is read by `take` like the others. */
export function pageReader(start: EventOf<"session_started">): PageReader {
  const events: LogEvent[] = [];
  const changes = changeLog();
  const now = viewReader();
  const walk = walker();
  const steps = stepReader();
  const edits = editPart(changes, steps);
  const [costs, facts, forgotten] = [costReader(events), factReader(start), forgottenReader()];
  const stepRows = stepPart(changes, steps);
  const tree = delegatePart(changes, events);
  const lists = [decisionPart(changes), egressPart(changes, events), storyPart(changes)];

  const takeOne = (event: LogEvent): void => {
    events.push(event);
    const moment = walk(event);
    steps.take(event);
    edits.see(event);
    if (moment) edits.take(moment);
    costs.take(event, moment);
    facts.take(event);
    forgotten.take(event, moment);
    for (const list of [...lists, tree]) list.take(event);
  };
  const settle = (mostEdits = Number.POSITIVE_INFINITY): boolean => {
    const totals = stepRows.settle();
    const known = edits.settle(mostEdits);
    for (const list of lists) list.settle();
    const session = facts.facts();
    const snapshot = policyInputOf(events, now.read(events), session.to);
    const window = windowNow(snapshot);
    const cost = costs.costs();
    tree.settle(session.id, cost);
    const soft = { ...snapshot.soft, window: snapshot.model.window };
    const sizes = { steps: steps.rows.length, tokens: window.tokens, cost: cost.total };
    const figures = { ...totals, ...known.sums, ...sizes };
    changes.set("session", words.sessionText(session));
    changes.set("soft", words.softText({ soft }));
    setRows(changes, "figures", words.figureRows(figures), "<div hidden></div>");
    changes.set("deferred", words.deferredText(steps.rows.at(-1)?.deferredTokens ?? 0));
    changes.set("forgotten", forgottenText(forgotten.forgotten()));
    changes.set("misses", words.missesText(totals));
    changes.set("frame", JSON.stringify(curveFrame(totals.highest, { soft, size: totals.size })));
    setRows(changes, "window", tables.windowRows(window));
    setRows(changes, "largest", tables.largestRows(window, session.cwd));
    setRows(changes, "cost", tables.costRows(cost));
    setRows(changes, "kinds", tables.kindRows(cost));
    return known.settled;
  };
  return {
    take(added) {
      for (const event of added) takeOne(event);
    },
    settle,
    changes,
  };
}

/** Sets the rows of a short table; those that it had more are left empty. */
function setRows(changes: Changes, list: string, rows: readonly string[], none = "<tr hidden></tr>"): void {
  for (const [index, row] of rows.entries()) changes.set(`${list}/${index}`, row);
  for (let index = rows.length; changes.get(`${list}/${index}`) !== ""; index++)
    changes.set(`${list}/${index}`, none);
}

type Part = { take(event: LogEvent): void; settle(): void };
type Steps = ReturnType<typeof stepReader>;

/** The steps: bars, rows and totals. A step changes until the next begins. */
function stepPart(changes: Changes, { rows, answered }: Steps) {
  const totals = totalsReader();
  let [from, added, highest] = [0, 0, 1];
  return {
    settle() {
      for (const row of rows.slice(from)) {
        const index = row.step - 1;
        changes.set(`bars/${index}`, barsOf(row, index).join("|"));
        changes.set(`step/${index}`, words.stepText(row));
        changes.set(`steps/${index}`, tables.stepRowHtml(row));
        highest = Math.max(highest, row.tokens);
      }
      for (const row of answered.slice(added)) totals.add(row);
      [from, added] = [Math.max(0, rows.length - 1), answered.length];
      changes.set("last", String(rows.length));
      return { ...totals.totals(), highest };
    },
  };
}

/** The edits. Each answered step changes what they are worth, so with many of them a few are looked at in turn. */
function editPart(changes: Changes, { rows, answered }: Steps) {
  const { see, take, count, row } = editReader(answered);
  const known: EditRow[] = [];
  const sums = { removed: 0, worth: 0, lossy: 0, longer: 0 };
  const add = ({ removed, hindsight, elongation }: EditRow, sign: 1 | -1): void => {
    sums.removed += sign * removed;
    sums.worth += sign * hindsight.worth;
    if (elongation) sums.lossy += sign;
    if (elongation && elongation.excess >= 1) sums.longer += sign;
  };
  let [next, stale, at] = [0, 0, 0];
  const look = (index: number): void => {
    const edit = row(index);
    if (index >= known.length) {
      changes.set(`cuts/${index}`, cutHtml(edit));
      changes.set(`marks/${index}`, markHtml(edit, index, rows.length));
      changes.set(`edit/${index}`, words.editText(edit));
      changes.set(`edits/${index}`, tables.editRowHtml(edit, index));
    }
    const before = known[index];
    if (before) add(before, -1);
    add(edit, 1);
    known[index] = edit;
    changes.set(`worth-${index}`, tables.worthHtml(edit));
    changes.set(`repeats-${index}`, edit.elongation ? tables.repeatsHtml(edit.elongation) : "");
  };
  const settle = (most: number) => {
    for (let index = known.length; index < count(); index++) look(index);
    if (at !== answered.length) stale = count();
    at = answered.length;
    for (let looked = 0; stale > 0 && looked < most; looked++, stale--) {
      next = next === 0 ? count() - 1 : next - 1;
      look(next);
    }
    changes.set("edits-note", words.editsNote(count(), sums));
    return { sums, settled: stale === 0 };
  };
  return { see, take, settle };
}

function decisionPart(changes: Changes): Part {
  const { decisions, take } = decisionReader();
  let from = 0;
  return {
    take,
    settle() {
      const { rows } = decisions;
      for (let index = from; index < rows.length; index++)
        changes.set(`decisions/${index}`, tables.decisionRowHtml(rows[index] as (typeof rows)[number]));
      // The result of a call may still change its row: those of the newest reply are looked at again.
      from = rows.findLastIndex(({ step }) => step !== rows.at(-1)?.step) + 1;
      if (rows.length > 0) changes.set("decisions-note", html(decisionCounts(decisions)));
    },
  };
}

function egressPart(changes: Changes, events: readonly LogEvent[]): Part {
  const places = new Map<string, number>();
  const rows: EgressRow[] = [];
  let changed = new Set<number>();
  return {
    take(event) {
      if (event.type !== "egress") return;
      const key = egressKey(event);
      const place = places.get(key) ?? rows.length;
      const known = rows[place];
      rows[place] = egressRow(events, known ? addEgress(known, event) : event);
      places.set(key, place);
      changed.add(place);
    },
    settle() {
      for (const place of changed)
        changes.set(`egress/${place}`, tables.egressRowHtml(rows[place] as EgressRow));
      if (changed.size > 0) changes.set("egress-note", tables.egressText(rows));
      changed = new Set();
    },
  };
}

/** The tree of sub-agents, below the session itself. */
function delegatePart(changes: Changes, events: readonly LogEvent[]) {
  const { rows, take } = delegateReader(events);
  const places = new Map<DelegateRow, number>();
  let changed = new Set<DelegateRow>();
  let calls = 0;
  return {
    take(event: LogEvent): void {
      if (event.type === "summary_call") calls += 1;
      if (event.type === "assistant_message" && inputTotal(event.usage) > 0) calls += 1;
      const row = take(event);
      if (!row) return;
      places.set(row, places.get(row) ?? rows.size);
      changed.add(row);
    },
    settle(id: string, { total, buckets }: Costs): void {
      if (rows.size > 0)
        changes.set("delegates/0", tables.delegatingRowHtml(id, calls, total - buckets.delegates));
      for (const row of changed) changes.set(`delegates/${places.get(row)}`, tables.delegateRowHtml(row));
      changed = new Set();
    },
  };
}

/** Summaries, failures and warnings, as they come. */
function storyPart(changes: Changes): Part {
  let [summaries, items] = [0, 0];
  return {
    take(event) {
      if (event.type === "summary_call") {
        changes.set(`summaries/${summaries}`, tables.summaryHtml(event, summaries + 1));
        summaries += 1;
      }
      for (const item of tables.troubleItems(event)) changes.set(`trouble/${items++}`, item);
    },
    settle() {},
  };
}
