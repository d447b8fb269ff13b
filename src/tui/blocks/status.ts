/** The status line: model, mode, folder, the context as a bar and a curve, the cost, and stale tokens. Pure. */

import { deferralCostOf } from "../../context/policies/timing.ts";
import { softWindow } from "../../context/policies/window.ts";
import { formatTokens, plural } from "../../context/report/amounts.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { costOf, inputTotal, type ModelCard } from "../../core/model-card.ts";
import {
  cardOf,
  currentEngine,
  currentModel,
  isModelCall,
  lastOf,
  openFocus,
  spending,
} from "../../core/questions.ts";
import { sessionName } from "../../core/rewind.ts";
import { isFullSandbox, type SandboxStatus } from "../../core/sandbox.ts";
import { engineNames } from "../../core/text/sandbox-text.ts";
import type { PermissionMode } from "../../permissions/decide.ts";
import { cut, cutRow, type Row, rowWidth, type Span, safe, type Tone } from "../rows/rows.ts";

/** The facts of the log that the status line shows; read again with each event, not with each frame. */
export type Facts = {
  model: string;
  effort?: string;
  /** Input tokens of the newest request, and the soft window. */
  tokens: number;
  soft: number;
  /** Sizes of the last steps. */
  sizes: number[];
  hitRate?: number;
  turnCost: number;
  cost: number;
  /** Stale tokens that the economist defers; dollars that sending them costs each step, and dropping them once. */
  deferredTokens: number;
  deferralCost: { step: number; flush: number };
  focus?: string;
  /**
   * The sub-agents of the newest turn: those that work, their dollars, and what the calls of those that ended would have
   * cost in place.
   */
  delegates?: { running: number; apartUsd: number; inPlaceUsd: number };
  /** The name of the session. */
  name?: string;
  /** The sandbox of commands, once there is one or it is known that there is none. */
  sandbox?: SandboxStatus;
};

const shownSteps = 60;

/** Returns the facts of a log that begins with `session_started`. */
export function factsOf(events: readonly LogEvent[]): Facts {
  const { model, effort } = currentModel(events);
  const sizes = [...newestSizes(events)];
  const { cost, usage } = spending(events);
  const input = inputTotal(usage);
  const request: Pick<EventOf<"model_request">, "deferredTokens" | "flushTokens"> = lastOf(
    events,
    "model_request",
  ) ?? {};
  const focus = openFocus(events)?.objective;
  const name = sessionName(events);
  const { cost: turnCost, delegates } = newestTurn(events);
  const sandbox = lastOf(events, "sandbox")?.status;
  return {
    model: model.id,
    ...(effort ? { effort } : {}),
    tokens: sizes.at(-1) ?? 0,
    soft: softWindow(model, currentEngine(events).engine.window).tokens,
    sizes,
    ...(input > 0 ? { hitRate: usage.cacheReadTokens / input } : {}),
    turnCost,
    cost,
    deferredTokens: request.deferredTokens ?? 0,
    deferralCost: deferralCostOf(model, request),
    ...(focus ? { focus } : {}),
    ...(delegates ? { delegates } : {}),
    ...(name ? { name } : {}),
    ...(sandbox ? { sandbox } : {}),
  };
}

/** Collects the input tokens of the last answered steps, as the API reported them. */
const newestSizes = memoizedReduce<number[]>(
  () => [],
  (sizes, event) => {
    const size = event.type === "assistant_message" ? inputTotal(event.usage) : 0;
    if (size > 0 && sizes.push(size) > shownSteps) sizes.shift();
    return sizes;
  },
);

/** The newest turn, running or over: the index of its first event, its cost, and its sub-agents. */
type NewestTurn = { from: number; read: number; cost: number; over: boolean; model?: ModelCard } & Pick<
  Facts,
  "delegates"
>;

const newestTurn = memoizedReduce<NewestTurn>(
  // The first event describes the session and belongs to no turn.
  () => ({ from: 1, read: 0, cost: 0, over: false }),
  (before, event) => {
    const turn = before.over ? { ...before, from: before.read, cost: 0, delegates: undefined } : before;
    const model =
      event.type === "session_started" || event.type === "model_changed" ? event.model : turn.model;
    const card = isModelCall(event) ? (cardOf(event) ?? model) : undefined;
    const delegates = delegatesAfter(turn.delegates, event, card);
    return {
      from: turn.from,
      read: turn.read + 1,
      cost: turn.cost + (isModelCall(event) && card ? costOf(event.usage, card.prices) : 0),
      over: event.type === "turn_ended",
      ...(model ? { model } : {}),
      ...(delegates ? { delegates } : {}),
    };
  },
);

function delegatesAfter(
  before: Facts["delegates"],
  event: LogEvent,
  card: ModelCard | undefined,
): Facts["delegates"] {
  const { running, apartUsd, inPlaceUsd } = before ?? { running: 0, apartUsd: 0, inPlaceUsd: 0 };
  if (event.type === "delegate_started") return { running: running + 1, apartUsd, inPlaceUsd };
  if (event.type === "delegate_called" && card)
    return { running, apartUsd: apartUsd + costOf(event.usage, card.prices), inPlaceUsd };
  if (event.type === "delegate_ended")
    return { running: running - 1, apartUsd, inPlaceUsd: inPlaceUsd + event.economics.inPlaceUsd };
  return before;
}

/** Returns the index of the first event of the newest turn, running or over; never 0, which describes the session. */
export function turnStart(events: readonly LogEvent[]): number {
  return newestTurn(events).from;
}

export type StatusContext = { cwd: string; branch?: string | undefined };

/** A part of the line: those with the highest `rank` go first when room is short. `joined`: no gap before it. */
type Part = { spans: Row; rank: number; joined?: boolean };

/** Returns the number of rows that `statusRows` makes. */
export function statusHeight({ tokens }: Facts, columns: number): number {
  return tokens === 0 || columns < 60 ? 1 : 2;
}

/** Returns two rows where there is room for them, else one. */
export function statusRows(facts: Facts, mode: PermissionMode, place: StatusContext, columns: number): Row[] {
  const walls = facts.sandbox ? [sandboxPart(facts.sandbox, mode, columns)] : [];
  const money = moneyParts(facts);
  const first: Part[] = [
    { spans: [{ text: mode, tone: modeTone(mode) }], rank: 0 },
    { spans: [{ text: facts.model.replace(/^.*\//, ""), tone: "dim" }], rank: 2 },
    ...(facts.effort ? [{ spans: [dim(`effort ${facts.effort}`)], rank: 5 }] : []),
    { spans: [dim(place.branch ? `${place.cwd} (${place.branch})` : place.cwd)], rank: 4 },
    ...(facts.name ? [{ spans: [dim(cut(safe(facts.name), 30))], rank: 3.5 }] : []),
    ...walls,
    ...money,
  ];
  const second = contextParts(facts, columns);
  if (second.length === 0) return [fitted(first, columns)];
  if (columns >= 60) return [fitted(first, columns), fitted(second, columns)];
  // A warning takes the room of the bar.
  const isWarned = walls.some(({ rank }) => rank === 0);
  const size = `${formatTokens(facts.tokens)} of ${formatTokens(facts.soft)}`;
  const context = isWarned ? [{ spans: [dim(size)], rank: 0.5 }] : second;
  return [fitted([...first.slice(0, 1), ...walls, ...context, ...money.slice(-1)], columns)];
}

function dim(text: string): Span {
  return { text, tone: "dim" };
}

/** Says whether walls stand. In the mode that asks nothing their absence is a warning, for which there is always room. */
function sandboxPart(status: SandboxStatus, mode: PermissionMode, columns: number): Part {
  if (isFullSandbox(status)) return { spans: [dim("sandbox")], rank: 2.5 };
  const { engine } = status;
  const partial = columns < 60 ? "sandbox not full" : `sandbox: ${engineNames[engine]}, not full`;
  const text = engine === "none" ? "no sandbox" : partial;
  return mode === "auto" ? { spans: [{ text, tone: "bad" }], rank: 0 } : { spans: [dim(text)], rank: 2.5 };
}

function modeTone(mode: PermissionMode): Tone {
  return mode === "auto" ? "bad" : mode === "plan" ? "accent" : "good";
}

function moneyParts({ hitRate, turnCost, cost }: Facts): Part[] {
  const parts: Part[] = [];
  if (hitRate !== undefined) parts.push({ spans: [dim(`cache ${Math.round(hitRate * 100)} %`)], rank: 3 });
  if (turnCost > 0 && turnCost < cost)
    parts.push({ spans: [dim(`turn ${formatDollars(turnCost)}`)], rank: 6 });
  if (cost > 0) parts.push({ spans: [dim(formatDollars(cost))], rank: 1 });
  return parts;
}

/** Formats dollars to the cent, or with more places where needed. */
export function formatDollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 3 : 2)}`;
}

function contextParts(
  { tokens, soft, sizes, deferredTokens, deferralCost, focus, delegates }: Facts,
  columns: number,
): Part[] {
  if (tokens === 0) return [];
  const share = tokens / soft;
  const tone = share >= 0.9 ? "bad" : share >= 0.7 ? "warn" : "accent";
  // The words for stale tokens need room beside the curve.
  const steps = deferredTokens > 0 ? Math.max(8, Math.floor(columns / 10)) : shownSteps;
  return [
    {
      spans: [
        dim("context "),
        ...barOf(share, tone),
        dim(` ${formatTokens(tokens)} of ${formatTokens(soft)}`),
      ],
      rank: 0,
    },
    // One or two steps give nothing to compare.
    ...(sizes.length > 2
      ? [{ spans: [dim("by step "), { text: sparkline(sizes, steps), tone: "accent" as const }], rank: 1 }]
      : []),
    ...(focus ? [{ spans: [dim(`in focus: ${focus}`)], rank: 2 }] : []),
    ...(delegates ? [{ spans: [dim(delegatesText(delegates))], rank: 2.5 }] : []),
    ...(deferredTokens > 0
      ? [{ spans: [dim(`holding ${formatTokens(deferredTokens)} stale tokens`)], rank: 3 }]
      : []),
    ...(deferredTokens > 0 && deferralCost.step > 0
      ? [{ spans: [dim(`, ${deferralText(deferralCost)}`)], rank: 4, joined: true }]
      : []),
  ];
}

/** Returns a text such as "$0.0040 a step; flush would cost $0.21". */
export function deferralText({ step, flush }: Facts["deferralCost"]): string {
  const once = flush > 0 ? `; flush would cost ${small(flush)}` : "";
  return `${small(step)} a step${once}`;
}

/** Returns a text such as "2 sub-agents, $0.0200" while they work, then "sub-agents: $0.0200 apart, $0.21 in place". */
function delegatesText({ running, apartUsd, inPlaceUsd }: NonNullable<Facts["delegates"]>): string {
  if (running > 0) return `${plural(running, "sub-agent")}${apartUsd > 0 ? `, ${small(apartUsd)}` : ""}`;
  return apartUsd + inPlaceUsd > 0
    ? `sub-agents: ${small(apartUsd)} apart, ${small(inPlaceUsd)} in place`
    : "sub-agents done";
}

/** Formats with as many places as are meaningful. */
function small(amount: number): string {
  return `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;
}

const barWidth = 10;
const partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws a share as a bar of ten columns, with dots for the rest. */
export function barOf(share: number, tone: Tone, columns = barWidth): Row {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const drawn = "█".repeat(Math.floor(eighths / 8)) + (partial[eighths % 8] ?? "");
  return [
    { text: drawn, tone },
    { text: "·".repeat(columns - drawn.length), tone: "dim" },
  ];
}

const levels = "▁▂▃▄▅▆▇█";

/** Draws the sizes of the steps in one row, the largest at full height. */
function sparkline(sizes: readonly number[], columns: number): string {
  const shown = sizes.slice(-columns);
  const top = Math.max(1, ...shown);
  return shown.map((size) => levels[Math.min(7, Math.floor((size / top) * 8))]).join("");
}

const between = "  ";

/** Joins the parts; the least important are left out until they fit. */
function fitted(parts: readonly Part[], columns: number): Row {
  const row = parts.flatMap(
    ({ spans, joined }, index): Row => (index === 0 || joined ? spans : [{ text: between }, ...spans]),
  );
  if (rowWidth(row) <= columns || parts.length <= 1) return row;
  const last = Math.max(...parts.map(({ rank }) => rank));
  const kept = parts.filter(({ rank }) => rank !== last);
  return kept.length === 0 ? cutRow(row, columns) : fitted(kept, columns);
}
