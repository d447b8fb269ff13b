/** Says of an edit in plain words what leaves the context, why, and at what price. Pure. */

import type { ContextEdit, EventOf, LogEvent } from "../../core/events.ts";
import { eventAt, indexFrom } from "../../core/questions.ts";
import { formatTokens, money, plural } from "../report/amounts.ts";

/**
 * `parts`: what leaves, without the size that is in `what`. `cause`: the reason in at most three words; some policies have
 * their own sentence there, as in `why`.
 */
export type EditWords = { what: string; parts: string; cause: string; why: string; price: string };

type Edited = Pick<EventOf<"context_edited">, "edits" | "economics" | "reason" | "fold">;

/** Reasons of policies that compare prices, by the code in the economics of the edit. */
const causes: Readonly<Record<string, { cause: string; why: string }>> = {
  "break-even": { cause: "it pays", why: "carrying them costs more than rewriting what follows" },
  cold: { cause: "not cached", why: "the cache no longer has it, so all is written again anyway" },
  cliff: { cause: "price tier near", why: "a longer request has a higher price for all of it" },
  pressure: { cause: "nearly full", why: "the context is nearly full" },
};

/** `events`: the log, at least up to the edit. */
export function editWords(
  { edits, economics, reason, fold }: Edited,
  events: readonly LogEvent[],
): EditWords {
  const { removedTokens: removed } = economics;
  const parts = partsOf(edits, events, fold).join(", ");
  const what =
    typeof removed === "number" && removed > 0
      ? `${formatTokens(removed)} tokens leave the context: ${parts}`
      : `left out: ${parts}`;
  const { cause, why } = causes[economics.reason ?? ""] ?? { cause: reason, why: fold ? "" : reason };
  return { what, parts, cause, why, price: priceOf(economics) };
}

/** Joins the words to one sentence without a full stop. */
export function sentenceOf({ what, why, price }: EditWords): string {
  return [what, why, price].filter(Boolean).join("; ");
}

/** Counts the steps that begin in a span of the log. */
export function stepsIn({ from, to }: { from: number; to: number }, events: readonly LogEvent[]): number {
  let steps = 0;
  for (let index = indexFrom(events, from); index < events.length; index++) {
    const event = events[index];
    if (!event || event.seq > to) break;
    if (event.type === "assistant_message") steps += 1;
  }
  return steps;
}

type Span = ContextEdit & { type: "collapse" };

function partsOf(edits: readonly ContextEdit[], events: readonly LogEvent[], fold: Edited["fold"]): string[] {
  const spans = edits.filter((edit): edit is Span => edit.type === "collapse");
  const count = (some: readonly Span[]) => some.reduce((sum, span) => sum + stepsIn(span, events), 0);
  const inLines = count(spans.filter(({ lines }) => lines));
  const gone = count(spans.filter(({ lines }) => !lines));
  const replaced = edits.flatMap((edit) =>
    edit.type === "replace" ? (eventAt(events, edit.seq)?.type ?? []) : [],
  );
  const results = replaced.filter((type) => type === "tool_result").length;
  const inputs = replaced.filter((type) => type === "assistant_message").length;
  return [
    ...(fold ? [`${plural(gone, "step")} folded, “${fold.objective}”`] : []),
    ...(!fold && gone > 0 ? [`${plural(gone, "step")} for which a summary stands`] : []),
    ...(results > 0 ? [plural(results, "result")] : []),
    ...(inLines > 0 ? [`${plural(inLines, "step")} down to a line for each call`] : []),
    ...(inputs > 0 ? [plural(inputs, "large input")] : []),
    ...(edits.some(({ type }) => type === "drop_thinking") ? ["earlier thinking"] : []),
  ];
}

function priceOf({
  reason,
  removedTokens,
  afterTokens,
  expectedSavingUsd: saved,
}: Edited["economics"]): string {
  const rewritten = Number(afterTokens ?? 0) - Number(removedTokens ?? 0);
  const written =
    reason !== "cold" && rewritten > 0 ? [`${formatTokens(rewritten)} tokens are written again`] : [];
  const gain =
    typeof saved === "number"
      ? [`${money(Math.abs(saved))} ${saved < 0 ? "lost" : "saved"} if it goes on as long again`]
      : [];
  return [...written, ...gain].join(", ");
}
