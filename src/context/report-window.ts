/** What is in the window now: by kind, the largest items, and what can be done about each. Pure. */

import { type Block, isToolUse } from "../core/blocks.ts";
import type { LogEvent } from "../core/events.ts";
import { eventAt, findCall, started } from "../core/questions.ts";
import { type Kind, kinds, type Part, partsReader, sumByKind } from "./report-kinds.ts";
import type { Snapshot } from "./snapshot.ts";
import { newestStep } from "./snapshot.ts";

export type KindShare = { kind: Kind; tokens: number; share: number };

/** `step`: the reply it came with or after; 0 before the first. `advice`: what can be done about its size. */
export type LargestItem = { kind: Kind; tokens: number; step: number; what: string; advice: string };

export type WindowNow = {
  /** Calibrated input tokens of the next request as the view stands. */
  tokens: number;
  byKind: KindShare[];
  largest: LargestItem[];
};

/** The window as the next request would carry it. */
export function windowNow(snapshot: Snapshot, count = 5): WindowNow {
  const { events, view, calibration } = snapshot;
  const parts = partsReader(events)(view);
  const sums = sumByKind(parts, calibration);
  const total = Math.max(
    1,
    kinds.reduce((sum, kind) => sum + sums[kind], 0),
  );
  return {
    tokens: snapshot.expected,
    byKind: kinds.map((kind) => ({ kind, tokens: Math.round(sums[kind]), share: sums[kind] / total })),
    largest: parts
      .toSorted((a, b) => b.tokens - a.tokens)
      .slice(0, count)
      .map((part) => itemOf(part, snapshot)),
  };
}

function itemOf(part: Part, snapshot: Snapshot): LargestItem {
  const { events, calibration } = snapshot;
  const step = stepsUntil(events, part.seq);
  const tokens = Math.round(part.tokens * calibration);
  return {
    kind: part.kind,
    tokens,
    step,
    what: whatOf(part, snapshot),
    advice: adviceOn(part, step, snapshot),
  };
}

function stepsUntil(events: readonly LogEvent[], seq: number): number {
  return events.filter((event) => event.type === "assistant_message" && event.seq <= seq).length;
}

/** What the item is, in one line: the call it belongs to, or how its text begins. */
function whatOf(part: Part, { events, view }: Snapshot): string {
  if (part.seq < 0)
    return part.kind === "tools" ? `${started(events).tools.length} definitions` : "system prompt";
  const block = view.entries.find((entry) => entry.seq === part.seq)?.blocks[part.block];
  const event = eventAt(events, part.seq);
  if (block && isToolUse(block)) return callText(block);
  const call =
    event?.type === "tool_result" ? findCall(events, event.toolUseId, events.indexOf(event)) : undefined;
  return part.kind === "observations" && call ? callText(call) : firstLine(block);
}

function callText({ name, input }: { name: string; input: unknown }): string {
  const { command, path, objective } = (input ?? {}) as Record<string, unknown>;
  const subject = [command, path, objective].filter((word) => typeof word === "string").join(" ");
  const short = name === "str_replace_editor" ? subject : `${name} ${subject}`;
  return short.split("\n")[0]?.slice(0, 200) ?? name;
}

function firstLine(block: Block | undefined): string {
  if (block?.type === "text") return block.text.trimStart().split("\n")[0]?.slice(0, 200) ?? "";
  if (block?.type === "thinking")
    return block.thinking.trimStart().split("\n")[0]?.slice(0, 200) || "thinking";
  if (block?.type === "tool_result" && typeof block.content === "string")
    return block.content.split("\n")[0] ?? "";
  return block?.type ?? "";
}

function adviceOn(part: Part, step: number, snapshot: Snapshot): string {
  switch (part.kind) {
    case "system":
    case "tools":
      return "fixed for the session";
    case "instructions":
      return "shorten the project's instructions";
    case "user":
      return "kept word for word; name a file instead";
    case "reasoning":
      return snapshot.model.contract.history === "prefix_bound"
        ? "goes with an edit before it"
        : "kept; less of it with --effort";
    case "actions":
      return "kept; editor inputs go near the limit";
    case "observations":
      return adviceOnResult(part, step, snapshot);
    case "knowledge":
      return "kept: it stands for folded steps";
    case "reminders":
      return "kept";
  }
}

/** Stacks that mask old observations; the others wait for a fold, a summary or the window's end. */
const masking = new Set(["economist", "masking", "hybrid"]);

function adviceOnResult({ seq }: Part, step: number, snapshot: Snapshot): string {
  const { events, view, settings } = snapshot;
  const { context } = started(events);
  const index = view.entries.findIndex((entry) => entry.seq === seq);
  if (view.entries[index]?.edited) return "shortened already";
  if (context === "raw") return "stays: raw forgets nothing";
  if (index >= newestStep(view)) return "the newest step is never edited";
  if (!masking.has(context)) return "goes with its focus or a summary";
  if (step === 1) return "stays: the first result is never masked";
  const left = settings.maskKeep - (stepsUntil(events, Number.POSITIVE_INFINITY) - step);
  if (left > 0) return `may go in ${left} ${left === 1 ? "step" : "steps"}`;
  return context === "economist" ? "goes as soon as it pays" : "goes next";
}
