/** The fold in place (context-engine §5): a closed focus becomes the result of its own `start_focus` call. Pure. */

import type { ContextEdit, EventOf, LogEvent } from "../../core/events.ts";
import { changedFiles, closedFocus, findCall, indexFrom, openFocus, started } from "../../core/questions.ts";
import { withoutTags } from "../../core/text/tags.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { commandOf } from "../handoff/handoff.ts";
import { textTokens } from "../view/tokens.ts";
import type { View } from "../view/view.ts";
import type { Plan, Policy } from "./policy.ts";
import type { PolicyInput } from "./policy-input.ts";

/** Folds in place: the prefix before the checkpoint keeps its bytes, so its cache entry and thinking stay good. */
export const focusPolicy: Policy = {
  name: "focus",
  plan(snapshot) {
    const fold = dueFold(snapshot);
    if (!fold) return {};
    const { from, to } = fold;
    return { plan: planOf("focus", fold, [{ type: "collapse", from, to, text: fold.text }]) };
  },
};

/** As published (arXiv 2601.07190): knowledge goes to a block at the top, which rewrites the prefix. */
export const focusAtTopPolicy: Policy = {
  name: "focus-top",
  plan(snapshot) {
    const fold = dueFold(snapshot);
    const top = snapshot.view.entries[0];
    const block = top?.knowledge ?? -1;
    const present = top?.blocks[block];
    if (!fold || !top || present?.type !== "text") return {};
    const { from, to } = fold;
    const text = `Focus closed: ${withoutTags(fold.objective)}. What was learned stands under Knowledge, at the top.`;
    return {
      plan: planOf("focus-top", fold, [
        { type: "collapse", from, to, text },
        { type: "replace", seq: top.seq, block, text: `${present.text}\n\n${fold.text}` },
      ]),
    };
  },
};

/** Beginning of the Knowledge block of `focus-top`, in the preamble of the first user message. */
export const knowledgeHead = "Knowledge of this session:";

type Fold = { objective: string; from: number; to: number; text: string; removed: number; steps: number };

function planOf(policy: string, { objective, removed, steps }: Fold, edits: ContextEdit[]): Plan {
  return {
    policy,
    reason: `focus closed: ${objective}`,
    edits,
    economics: { removedTokens: removed, steps },
    fold: { objective },
  };
}

/** Folds the open focus at the user's request: facts from the log replace the unwritten knowledge. */
export function foldNow({
  events,
  view,
  calibration,
}: PolicyInput): { plan: Plan; text: string } | undefined {
  const focus = openFocus(events);
  const to = view.entries.at(-1)?.seq;
  if (!focus || to === undefined) return undefined;
  const span = spanOf(events, focus.resultSeq, to);
  const text = mechanicalText(events, focus.objective, span);
  const { removed, steps } = measured(view, focus.resultSeq, to, text, span);
  if (removed <= 0) return undefined;
  const fold = {
    ...focus,
    from: focus.resultSeq,
    to,
    text,
    removed: Math.round(removed * calibration),
    steps,
  };
  const plan = planOf("focus", fold, [{ type: "collapse", from: fold.from, to, text }]);
  return { plan: { ...plan, economics: { ...plan.economics, by: "the person" } }, text };
}

/** Returns the estimated tokens that a fold removes, and its steps. */
function measured(view: View, from: number, to: number, text: string, span: readonly LogEvent[]) {
  const inside = view.entries.filter(
    ({ seq, ...entry }) => seq >= from && seq <= to && !entry.isUserText && !entry.standing,
  );
  const removed = inside.reduce((sum, entry) => sum + entry.tokens, 0) - textTokens(text);
  return { removed, steps: span.filter((event) => event.type === "assistant_message").length };
}

const shownCalls = 30;
const saidTokens = 500;

/** Lists the logged calls and the model's last text. */
function mechanicalText(events: readonly LogEvent[], objective: string, span: readonly LogEvent[]): string {
  const results = span.filter((event) => event.type === "tool_result");
  const done = results.map((event) => `- ${commandOf(events, event)}${event.isError ? " → failed" : ""}`);
  const said = span.findLast((event) => event.type === "assistant_message");
  const last = textOf(said?.content ?? [])
    .slice(0, 4 * saidTokens)
    .toWellFormed();
  const steps = span.filter((event) => event.type === "assistant_message").length;
  return withoutTags(
    [
      `Focus closed by the person: ${objective}`,
      ...(done.length > shownCalls ? [`Done (the last ${shownCalls} of ${done.length} calls):`] : ["Done:"]),
      ...done.slice(-shownCalls),
      ...(changedFiles(span).length > 0 ? [`Files changed: ${changedFiles(span).join(", ")}`] : []),
      ...(last ? [`Said last: ${last}`] : []),
      `[${steps} steps folded; ${whereabouts(events, span)}]`,
    ].join("\n"),
  );
}

function textOf(content: EventOf<"assistant_message">["content"]): string {
  return content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

/** Returns the fold that is due after a successful `complete_focus` among the newest results. */
function dueFold({ events, view, calibration }: PolicyInput): Fold | undefined {
  const closing = closingResult(events);
  const focus = closing && closedFocus(events);
  if (!closing || !focus) return undefined;
  const from = focus.resultSeq;
  const to = closing.seq;
  const span = spanOf(events, from, to);
  const text = knowledgeText(events, focus.objective, closing, span);
  const { removed, steps } = measured(view, from, to, text, span);
  return { objective: focus.objective, from, to, text, removed: Math.round(removed * calibration), steps };
}

/** Returns the events after `from` up to `to`. */
function spanOf(events: readonly LogEvent[], from: number, to: number): readonly LogEvent[] {
  return events.slice(indexFrom(events, from + 1), indexFrom(events, to + 1));
}

function closingResult(events: readonly LogEvent[]): EventOf<"tool_result"> | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "assistant_message" || event?.type === "context_edited") return undefined;
    if (event?.type === "tool_result" && event.toolName === toolNames.completeFocus && !event.isError)
      return event;
  }
  return undefined;
}

/** Builds the text that stands for the focus: it reads like a call that returned what was learned. */
function knowledgeText(
  events: readonly LogEvent[],
  objective: string,
  result: EventOf<"tool_result">,
  span: readonly LogEvent[],
): string {
  const input = (findCall(events, result.toolUseId)?.input ?? {}) as Record<string, string>;
  const steps = span.filter((event) => event.type === "assistant_message").length;
  return withoutTags(
    [
      `Focus closed: ${objective}`,
      `Attempted: ${input.attempted ?? ""}`,
      `Learned: ${input.learned ?? ""}`,
      `Outcome: ${input.outcome ?? ""}`,
      `[${steps} steps folded; ${whereabouts(events, span)}]`,
    ].join("\n"),
  );
}

function whereabouts(events: readonly LogEvent[], span: readonly LogEvent[]): string {
  const stubs = span.flatMap((event) =>
    event.type === "tool_result" && event.artifact ? [event.artifact] : [],
  );
  const first = stubs[0];
  const last = stubs.at(-1);
  if (!first || !last) return `full history: ${started(events).folder}/events.jsonl`;
  return first === last ? `its output: ${first}` : `their outputs: ${first} to ${last}`;
}
