/** The figures of a report as they are defined, each from the whole log: slow, and the measure of the fast ones. */

import { elongation, isLossy } from "../../src/context/report/elongation.ts";
import { type Kind, partsReader } from "../../src/context/report/kinds.ts";
import type { StepRow } from "../../src/context/report/steps.ts";
import { blocksTokens, calibration } from "../../src/context/view/tokens.ts";
import { applyEvents } from "../../src/context/view/view.ts";
import { isThinking } from "../../src/core/blocks.ts";
import type { ContextEdit, EventOf, LogEvent } from "../../src/core/events.ts";
import { costOf, inputTotal, type ModelCard, noUsage, type Prices } from "../../src/core/model-card.ts";
import { allOf, currentModel } from "../../src/core/questions.ts";

const untilSeq = (events: readonly LogEvent[], seq: number) => events.filter((event) => event.seq < seq);

/** The expected size of each request, by what had been reported until then. */
export function slowExpected(events: readonly LogEvent[]): number[] {
  return allOf(events, "model_request").map(({ seq, tokensEstimated }) =>
    Math.ceil(tokensEstimated * calibration(untilSeq(events, seq))),
  );
}

const startOf = (edit: ContextEdit) =>
  edit.type === "replace" ? edit.seq : edit.type === "collapse" ? edit.from : 0;
const endOf = (edit: ContextEdit) => (edit.type === "replace" ? edit.seq : edit.to);

/** Lists for each edit the step it was for, what it removed, its elongation, and the steps and dollars that it saved. */
export function slowEdits(events: readonly LogEvent[], steps: readonly StepRow[]) {
  return allOf(events, "context_edited").map((edit) => {
    const before = untilSeq(events, edit.seq);
    const [was, is] = [applyEvents(before).tokens, applyEvents([...before, edit]).tokens];
    const removed = Math.round((was - is) * calibration(before));
    const { prices } = currentModel(before).model;
    const until = coveredAt(events, edit);
    const later = steps.filter(({ seq, usage }) => usage && seq > edit.seq && seq < until);
    return {
      seq: edit.seq,
      step: 1 + allOf(before, "model_request").length,
      removed,
      steps: later.length,
      saved: later.reduce((sum, step) => sum + carried(step, removed, prices), 0),
      elongation: isLossy(edit) ? elongation(events, edit) : undefined,
    };
  });
}

function coveredAt(events: readonly LogEvent[], edit: EventOf<"context_edited">): number {
  const from = Math.min(...edit.edits.map(startOf));
  const to = Math.max(...edit.edits.map(endOf));
  const covering = allOf(events, "context_edited").find(
    ({ seq, edits }) =>
      seq > edit.seq && edits.some((one) => one.type === "collapse" && one.from <= from && one.to >= to),
  );
  return covering?.seq ?? Number.POSITIVE_INFINITY;
}

function carried({ usage = noUsage }: StepRow, removed: number, prices: Prices): number {
  const more = { ...usage, cacheReadTokens: usage.cacheReadTokens + removed };
  return costOf(more, prices) - costOf(usage, prices);
}

/** Dollars by kind: each token of each request at the price of the place where it stands. */
export function slowKinds(events: readonly LogEvent[]): Map<Kind, { input: number; output: number }> {
  const costs = new Map<Kind, { input: number; output: number }>();
  const add = (kind: Kind, way: "input" | "output", dollars: number) => {
    const cost = costs.get(kind) ?? { input: 0, output: 0 };
    costs.set(kind, cost);
    cost[way] += dollars;
  };
  for (const request of allOf(events, "model_request")) {
    const reply = events.find((event) => event.type === "assistant_message" && event.seq > request.seq);
    if (reply?.type !== "assistant_message" || inputTotal(reply.usage) === 0) continue;
    const before = untilSeq(events, request.seq);
    const { model } = currentModel(before);
    for (const [kind, dollars] of inputByKind(events, before, reply, model)) add(kind, "input", dollars);
    const thought = blocksTokens(reply.content.filter(isThinking)) / (blocksTokens(reply.content) || 1);
    const output =
      costOf(reply.usage, model.prices) - costOf({ ...reply.usage, outputTokens: 0 }, model.prices);
    add("reasoning", "output", thought * output);
    add("actions", "output", (1 - thought) * output);
  }
  return costs;
}

function inputByKind(
  events: readonly LogEvent[],
  before: readonly LogEvent[],
  { usage }: EventOf<"assistant_message">,
  { prices }: ModelCard,
): [Kind, number][] {
  const { fixed, partsOf } = partsReader(events);
  const parts = [...fixed, ...applyEvents(before).entries.flatMap(partsOf)];
  const scale = inputTotal(usage) / parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const factor = prices.tier && inputTotal(usage) > prices.tier.aboveTokens ? prices.tier.input : 1;
  const zones = [
    [usage.cacheReadTokens, prices.cacheRead],
    [usage.cacheWrite1hTokens, prices.cacheWrite1h || prices.input],
    [usage.cacheWrite5mTokens, prices.cacheWrite5m || prices.input],
    [usage.inputTokens, prices.input],
  ] as const;
  let at = 0;
  return parts.map(({ kind, tokens }) => {
    const [from, to] = [at, at + tokens * scale];
    at = to;
    let [begin, dollars] = [0, 0];
    for (const [size, price] of zones) {
      dollars += Math.max(0, Math.min(to, begin + size) - Math.max(from, begin)) * price;
      begin += size;
    }
    return [kind, (factor * dollars) / 1e6];
  });
}
