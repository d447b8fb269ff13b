/** The status line: model, mode, place, the context as a bar and a curve, what it costs and what is held back. Pure. */

import { compact } from "../context/amounts.ts";
import { contextSizes } from "../context/curve.ts";
import { shares } from "../context/economist.ts";
import { softWindow } from "../context/window.ts";
import type { LogEvent } from "../core/events.ts";
import { inputTotal } from "../core/model-card.ts";
import type { PermissionMode } from "../core/permission.ts";
import { currentEngine, currentModel, lastOf, openFocus, spending } from "../core/questions.ts";
import { type Row, rowWidth, type Span, type Tone } from "./rows.ts";

/** What the log answers for the status line; read anew with each event, not with each frame. */
export type Facts = {
  model: string;
  effort?: string;
  /** Input tokens of the newest request, and the soft window. */
  tokens: number;
  soft: number;
  /** Of the last steps. */
  sizes: number[];
  hitRate?: number;
  turnCost: number;
  cost: number;
  /** Tokens that the economist holds back, and dollars that sending them costs each step. */
  held: number;
  heldCost: number;
  focus?: string;
};

const shownSteps = 60;

/** The facts of a log that begins with `session_started`. */
export function factsOf(events: readonly LogEvent[]): Facts {
  const { model, effort } = currentModel(events);
  const sizes = contextSizes(events);
  const { cost, usage } = spending(events);
  const input = inputTotal(usage);
  const held = lastOf(events, "model_request")?.heldTokens ?? 0;
  const before = spending(events.slice(0, turnStart(events))).cost;
  const focus = openFocus(events)?.objective;
  return {
    model: model.id,
    ...(effort ? { effort } : {}),
    tokens: sizes.at(-1) ?? 0,
    soft: softWindow(model, currentEngine(events).engine.window).tokens,
    sizes: sizes.slice(-shownSteps),
    ...(input > 0 ? { hitRate: usage.cacheReadTokens / input } : {}),
    turnCost: cost - before,
    cost,
    held,
    heldCost: (held * shares(model).r * model.prices.input) / 1e6,
    ...(focus ? { focus } : {}),
  };
}

/** Index of the first event of the newest turn, running or over; never 0, where the session is described. */
export function turnStart(events: readonly LogEvent[]): number {
  const over = events.at(-1)?.type === "turn_ended" ? events.length - 1 : events.length;
  return Math.max(1, events.slice(0, over).findLastIndex(({ type }) => type === "turn_ended") + 1);
}

export type Place = { cwd: string; branch?: string | undefined };

/** A part of the line: those with the highest `rank` go first when the room is short. */
type Part = { spans: Row; rank: number };

/** Two rows where there is room for them, else one. */
export function statusRows(facts: Facts, mode: PermissionMode, place: Place, columns: number): Row[] {
  const first: Part[] = [
    { spans: [{ text: mode, tone: modeTone(mode) }], rank: 0 },
    { spans: [{ text: facts.model.replace(/^.*\//, ""), tone: "dim" }], rank: 2 },
    ...(facts.effort ? [{ spans: [dim(`effort ${facts.effort}`)], rank: 5 }] : []),
    { spans: [dim(place.branch ? `${place.cwd} (${place.branch})` : place.cwd)], rank: 4 },
    ...moneyParts(facts),
  ];
  const second = contextParts(facts);
  if (second.length === 0) return [fitted(first, columns)];
  return columns < 60
    ? [fitted([...first.slice(0, 1), ...second, ...first.slice(-1)], columns)]
    : [fitted(first, columns), fitted(second, columns)];
}

function dim(text: string): Span {
  return { text, tone: "dim" };
}

function modeTone(mode: PermissionMode): Tone {
  return mode === "auto" ? "warn" : mode === "plan" ? "accent" : "good";
}

function moneyParts({ hitRate, turnCost, cost }: Facts): Part[] {
  const parts: Part[] = [];
  if (hitRate !== undefined) parts.push({ spans: [dim(`cache ${Math.round(hitRate * 100)} %`)], rank: 3 });
  if (turnCost > 0 && turnCost < cost) parts.push({ spans: [dim(`turn ${dollars(turnCost)}`)], rank: 6 });
  if (cost > 0) parts.push({ spans: [dim(dollars(cost))], rank: 1 });
  return parts;
}

/** To the cent where cents tell enough. */
function dollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 3 : 2)}`;
}

function contextParts({ tokens, soft, sizes, held, heldCost, focus }: Facts): Part[] {
  if (tokens === 0) return [];
  const share = tokens / soft;
  const tone = share >= 0.9 ? "bad" : share >= 0.7 ? "warn" : "accent";
  const cost = heldCost >= 0.0001 ? `, $${heldCost.toFixed(4)} a step` : "";
  return [
    { spans: [{ text: bar(share), tone }, dim(` ${compact(tokens)} of ${compact(soft)}`)], rank: 0 },
    { spans: [{ text: sparkline(sizes), tone: "accent" }], rank: 1 },
    ...(held > 0 ? [{ spans: [dim(`holding ${compact(held)} stale${cost}`)], rank: 2 }] : []),
    ...(focus ? [{ spans: [dim(`in focus: ${focus}`)], rank: 3 }] : []),
  ];
}

const barWidth = 10;
const partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** The share as a bar of ten columns, what is free as dots. */
export function bar(share: number, columns = barWidth): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const drawn = "█".repeat(Math.floor(eighths / 8)) + (partial[eighths % 8] ?? "");
  return drawn.padEnd(columns, "·");
}

const levels = "▁▂▃▄▅▆▇█";

/** The sizes of the steps as one row, the largest of them full height. */
function sparkline(sizes: readonly number[], columns = shownSteps): string {
  const shown = sizes.slice(-columns);
  const top = Math.max(1, ...shown);
  return shown.map((size) => levels[Math.min(7, Math.floor((size / top) * 8))]).join("");
}

const between = "  ";

/** The parts side by side; the least important are left out until they fit. */
function fitted(parts: readonly Part[], columns: number): Row {
  const row = parts.flatMap(({ spans }, index): Row => (index === 0 ? spans : [{ text: between }, ...spans]));
  if (rowWidth(row) <= columns || parts.length <= 1) return row;
  const last = Math.max(...parts.map(({ rank }) => rank));
  return fitted(
    parts.filter(({ rank }) => rank !== last),
    columns,
  );
}
