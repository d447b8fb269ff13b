/** Views of the context: its content by kind, its cost, and the folded parts. Pure. */

import { policyInputOf } from "../../context/policies/policy-input.ts";
import { deferralCostOf } from "../../context/policies/timing.ts";
import { formatPercent, formatTokens, money, plural } from "../../context/report/amounts.ts";
import { costsOf } from "../../context/report/cost.ts";
import { type ServerShare, serverShares } from "../../context/report/servers.ts";
import { type LargestItem, type Remedy, windowNow } from "../../context/report/window.ts";
import { applyEvents } from "../../context/view/view.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";
import { allOf, currentModel, lastOf, type OpenFocus, spending, started } from "../../core/questions.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { gist } from "../rows/markdown.ts";
import { cut, cutRow, type Row, safe, width, wrap } from "../rows/rows.ts";
import { barOf, deferralText } from "./status.ts";

const largest = 6;

/** Shows the window by kind as bars, the largest items with advice, and the stale tokens. */
export function contextRows(events: readonly LogEvent[], columns: number): Row[] {
  const snapshot = policyInputOf(events, applyEvents(events), events.at(-1)?.at ?? 0);
  const { tokens, byKind, largest: items } = windowNow(snapshot, largest);
  const { soft, model } = snapshot;
  const kinds = byKind.filter((each) => each.tokens > 0).sort((a, b) => b.tokens - a.tokens);
  return [
    title(
      `Context: ${formatInteger(tokens)} tokens, ${formatPercent(tokens / soft.tokens, 0)}${columns < 56 ? "" : " of the soft window"}`,
    ),
    ...note(
      `The soft window is ${formatInteger(soft.tokens)} of ${formatInteger(model.window)} tokens: ${soft.source}.`,
      columns,
    ),
    ...kinds.map(({ kind, tokens: size, share }) => barRow(kind, formatInteger(size), share, columns)),
    [],
    title(columns < 56 ? "The largest items" : "The largest items, and what can be done about each"),
    ...itemRows(items, started(events).cwd, columns),
    ...serverRows(serverShares(snapshot)),
    ...deferredRows(events, columns),
  ].map((row) => cutRow(row, columns));
}

/** Shows the tokens of each server of tools; no rows where there is none. */
function serverRows(shares: readonly ServerShare[]): Row[] {
  if (shares.length === 0) return [];
  return [
    [],
    title("MCP servers"),
    ...shares.map(({ name, catalogue, schemas, results }): Row => {
      const parts = [
        `catalogue ${formatInteger(catalogue)}`,
        ...(schemas > 0 ? [`schemas read ${formatInteger(schemas)}`] : []),
        ...(results > 0 ? [`results ${formatInteger(results)}`] : []),
      ];
      return [{ text: `  ${safe(name).padEnd(14)} ` }, { text: `${parts.join(", ")} tokens`, tone: "dim" }];
    }),
  ];
}

function title(text: string): Row {
  return [{ text: `  ${text}`, tone: "heading" }];
}

function note(text: string, columns: number): Row[] {
  return wrap([{ text: `  ${text}`, tone: "dim" }], columns, "  ");
}

function barRow(name: string, amount: string, share: number, columns: number): Row {
  const room = Math.max(5, Math.min(30, columns - 36));
  return [
    { text: `  ${name.padEnd(14)}${amount.padStart(9)} ${formatPercent(share, 0).padStart(5)}  ` },
    ...barOf(share, "accent", room),
  ];
}

const remedies: Record<Remedy, string> = {
  "/focus fold": "/focus fold",
  "/compact": "/compact",
  yours: "nothing: it is yours",
  file: "shorten the file",
  fixed: "nothing",
  newest: "nothing yet",
};

/** Shows an item's future and what can be done about it: beside its name where there is room, else below. */
function itemRows(items: readonly LargestItem[], cwd: string, columns: number): Row[] {
  const names = items.map(({ what }) => safe(what).replaceAll(`${cwd}/`, ""));
  const done = items.map(({ remedy }) => remedies[remedy]);
  const [longest, widest, advised] = [names, done, items.map(({ advice }) => advice)].map((texts) =>
    Math.max(0, ...texts.map(width)),
  ) as [number, number, number];
  const beside = columns >= 76;
  const room = beside ? Math.min(longest, columns - 14 - advised - widest) : columns - 10;
  return items.flatMap(({ tokens, advice, remedy }, index): Row[] => {
    const name = cut(names[index] ?? "", room);
    const first: Row = [{ text: `  ${formatTokens(tokens).padStart(6)}  ${name}` }];
    const tone = remedy.startsWith("/") ? ("accent" as const) : ("dim" as const);
    const says = { text: done[index] ?? "", tone };
    if (!beside) return [first, [{ text: "          " }, says, { text: `  ${advice}`, tone: "dim" }]];
    const gap = " ".repeat(Math.max(0, room - width(name)));
    return [
      [...first, { text: `${gap}  ${says.text.padEnd(widest)}`, tone }, { text: `  ${advice}`, tone: "dim" }],
    ];
  });
}

/** Shows what the economist could drop, and why it does not yet. */
function deferredRows(events: readonly LogEvent[], columns: number): Row[] {
  const request: Deferral = lastOf(events, "model_request") ?? {};
  if (!request.deferredTokens) return [];
  const price = deferralCostOf(currentModel(events).model, request);
  const text = `${formatInteger(request.deferredTokens)} tokens are stale and held back until forgetting them pays`;
  return [[], ...note(price.step > 0 ? `${text}: ${deferralText(price)}.` : `${text}.`, columns)];
}

type Deferral = Pick<EventOf<"model_request">, "deferredTokens" | "flushTokens">;

/** Shows steps, tokens and dollars by bucket of the bill and by kind of content. */
export function costRows(events: readonly LogEvent[], columns: number): Row[] {
  const { total, buckets, usage, byKind } = costsOf(events);
  const { turns, apiMs } = spending(events);
  const input = inputTotal(usage);
  const rows: [string, number, number][] = [
    ["cache read", usage.cacheReadTokens, buckets.read],
    ["cache write", usage.cacheWrite5mTokens + usage.cacheWrite1hTokens, buckets.write5m + buckets.write1h],
    ["uncached", usage.inputTokens, buckets.uncached],
    ["output", usage.outputTokens, buckets.output],
  ];
  const share = (dollars: number) => dollars / Math.max(1e-12, total);
  return [
    title(`Cost: ${money(total)} for ${plural(turns, "step")}, ${Math.round(apiMs / 1000)} s of waiting`),
    ...rows
      .filter(([, tokens]) => tokens > 0)
      .map(([name, tokens, dollars]) =>
        barRow(
          name,
          total > 0 ? money(dollars) : formatTokens(tokens),
          total > 0 ? share(dollars) : tokens / Math.max(1, input),
          columns,
        ),
      ),
    ...(input > 0
      ? note(
          `${formatPercent(usage.cacheReadTokens / input)} of ${formatInteger(input)} input tokens came from the cache.`,
          columns,
        )
      : []),
    ...(total > 0 ? kindRows(byKind, share, columns) : []),
  ].map((row) => cutRow(row, columns));
}

function kindRows(
  byKind: ReturnType<typeof costsOf>["byKind"],
  share: (dollars: number) => number,
  columns: number,
): Row[] {
  const shown = byKind
    .map(({ kind, input, output }) => ({ kind, dollars: input + output }))
    .filter(({ dollars }) => share(dollars) >= 0.005);
  return [
    [],
    title("By what it was spent on"),
    ...shown.map(({ kind, dollars }) => barRow(kind, money(dollars), share(dollars), columns)),
  ];
}

function folds(events: readonly LogEvent[]): EventOf<"context_edited">[] {
  return allOf(events, "context_edited").filter(({ fold }) => fold !== undefined);
}

/** Shows the size of the open focus. */
function openRows({ objective, resultSeq }: OpenFocus, events: readonly LogEvent[], columns: number): Row[] {
  const { view, calibration } = policyInputOf(events, applyEvents(events), events.at(-1)?.at ?? 0);
  const inside = view.entries.filter(
    ({ seq, ...entry }) => seq > resultSeq && !entry.isUserText && !entry.standing,
  );
  const tokens = Math.round(inside.reduce((sum, entry) => sum + entry.tokens, 0) * calibration);
  const steps = inside.filter(({ role }) => role === "assistant").length;
  return [
    ...wrap([{ text: `  In focus: ${safe(objective)}` }], columns, "  "),
    ...note(
      `${plural(steps, "step")}, about ${formatInteger(tokens)} tokens. The model folds it with complete_focus; /focus fold does it now, from the log alone.`,
      columns,
    ),
  ];
}

/** Shows the open focus, and one row for each folded one. */
export function focusRows(open: OpenFocus | undefined, events: readonly LogEvent[], columns: number): Row[] {
  const now = open ? openRows(open, events, columns) : note("No focus is open.", columns);
  const closed = folds(events).map(({ fold, economics }): Row => {
    const removed = typeof economics.removedTokens === "number" ? formatTokens(economics.removedTokens) : "";
    return [
      { text: `  ${`−${removed}`.padStart(7)}  `, tone: "accent" },
      { text: gist(fold?.objective ?? "", columns - 11) },
    ];
  });
  const known = plural(closed.length, "entry", "entries");
  const below = closed.length > 0 ? [[], title(`Folded: ${known}, in full with /knowledge`), ...closed] : [];
  return [title("Focus"), ...now, ...below];
}

/** Shows the texts that replace the folded parts. */
export function knowledgeRows(events: readonly LogEvent[], columns: number): Row[] {
  const texts = allOf(events, "context_edited").flatMap(({ edits }) =>
    edits.flatMap((edit) => (edit.type === "collapse" && !edit.lines ? [edit.text] : [])),
  );
  if (texts.length === 0) return [title("Knowledge"), ...note("Nothing has been folded yet.", columns)];
  return [
    title(`Knowledge: ${plural(texts.length, "entry", "entries")}`),
    ...texts.flatMap((text) => [
      [],
      ...text.split("\n").flatMap((line) => wrap(labelled(safe(line)), columns, "    ")),
    ]),
  ];
}

function labelled(line: string): Row {
  const [, label, rest] = /^([A-Z][a-z ]+:) (.*)$/.exec(line) ?? [];
  return label ? [{ text: `  ${label} `, tone: "accent" }, { text: rest ?? "" }] : [{ text: `  ${line}` }];
}
