/** Describes the window now: tokens by kind, the largest items, and how to reduce each. Pure. */

import {
  type Block,
  isSearch,
  isToolUse,
  type ServerToolUseBlock,
  type WebSearchResultBlock,
} from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import {
  allOf,
  currentEngine,
  eventAt,
  findCall,
  indexFrom,
  openFocus,
  started,
} from "../../core/questions.ts";
import { searchesIn, searchLine } from "../../core/text/search-text.ts";
import { type CallFacts, describeCall } from "../../core/tool-calls.ts";
import { compactable } from "../policies/compact.ts";
import { economistPolicy, isWaiting } from "../policies/economist.ts";
import { maskCandidates } from "../policies/masking.ts";
import { offloadCandidates, offloadPolicy } from "../policies/offload.ts";
import { newestStep, type PolicyInput } from "../policies/policy-input.ts";
import { stackNamed } from "../policies/stacks.ts";
import { supersedeCandidates } from "../policies/supersede.ts";
import { turnsPolicy } from "../policies/turns.ts";
import { stepsIn } from "../view/edit-words.ts";
import { turnsOf } from "../view/turns.ts";
import { plural } from "./amounts.ts";
import { type Kind, kinds, type Part, partsReader, sumByKind } from "./kinds.ts";

export type KindShare = { kind: Kind; tokens: number; share: number };

/**
 * `step`: the reply it came with or after; 0 before the first. `advice`: what happens to it by itself; `remedy`: what
 * the user can do about its size now.
 */
export type LargestItem = {
  kind: Kind;
  tokens: number;
  step: number;
  what: string;
  advice: string;
  remedy: Remedy;
};

/** A command, or where none helps: `yours` is the user's own text, `file` their instructions. */
export type Remedy = "/focus fold" | "/compact" | "yours" | "file" | "fixed" | "newest";

export type WindowNow = {
  /** Calibrated input tokens of the next request as the view stands. */
  tokens: number;
  byKind: KindShare[];
  largest: LargestItem[];
};

/** Describes the window as of the next request. */
export function windowNow(snapshot: PolicyInput, count = 5): WindowNow {
  const { events, view, calibration } = snapshot;
  const { fixed, partsOf } = partsReader(events);
  const parts = [...fixed, ...view.entries.flatMap(partsOf)];
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

function itemOf(part: Part, snapshot: PolicyInput): LargestItem {
  const { events, calibration } = snapshot;
  const step = stepsUntil(events, part.seq);
  const tokens = Math.round(part.tokens * calibration);
  return {
    kind: part.kind,
    tokens,
    step,
    what: whatOf(part, snapshot),
    advice: adviceOn(part, snapshot),
    remedy: remedyFor(part, snapshot),
  };
}

function stepsUntil(events: readonly LogEvent[], seq: number): number {
  return indexFrom(replies(events), seq + 1);
}

const replies = memoizedReduce<LogEvent[]>(
  () => [],
  (found, event) => {
    if (event.type === "assistant_message") found.push(event);
    return found;
  },
);

/** Describes the item in one line: the call it belongs to, or how its text begins. */
function whatOf(part: Part, { events, view }: PolicyInput): string {
  if (part.seq < 0)
    return part.kind === "tools"
      ? `${started(events).tools.filter((tool) => !tool.defer_loading).length} definitions`
      : "system prompt";
  const { blocks = [] } = view.entries.find((entry) => entry.seq === part.seq) ?? {};
  const block = blocks[part.block];
  const event = eventAt(events, part.seq);
  if (block && isToolUse(block)) return callText(block);
  if (block && isSearch(block)) return searchText(block, blocks);
  const call =
    event?.type === "tool_result"
      ? findCall(events, event.toolUseId, indexFrom(events, event.seq))
      : undefined;
  return (part.kind === "observations" || part.kind === "instructions") && call
    ? callText(call, recordedIn(event))
    : (linesTitle(block, events) ?? firstLine(block));
}

function searchText(block: ServerToolUseBlock | WebSearchResultBlock, reply: readonly Block[]): string {
  const id = block.type === "server_tool_use" ? block.id : block.tool_use_id;
  const search = searchesIn(reply).find((one) => one.id === id);
  return search ? searchLine(search) : block.type;
}

/** The title of the text that stands for steps in lines; undefined for another text. */
function linesTitle(block: Block | undefined, events: readonly LogEvent[]): string | undefined {
  if (block?.type !== "text") return undefined;
  const edits = allOf(events, "context_edited").flatMap((event) => event.edits);
  const edit = edits.find((each) => each.type === "collapse" && each.lines && each.text === block.text);
  return edit?.type === "collapse" ? `${plural(stepsIn(edit, events), "earlier step")} in short` : undefined;
}

function recordedIn(event: LogEvent | undefined): CallFacts | undefined {
  return event?.type === "tool_result" ? event.call : undefined;
}

/** The title of a call in one line of at most 200 characters. */
export function callText(call: { name: string; input: unknown }, recorded?: CallFacts): string {
  const { verb, subject } = describeCall(call, recorded);
  return `${verb} ${subject}`.split("\n")[0]?.slice(0, 200) ?? verb;
}

function firstLine(block: Block | undefined): string {
  if (block?.type === "text") return block.text.trimStart().split("\n")[0]?.slice(0, 200) ?? "";
  if (block?.type === "thinking")
    return block.thinking.trimStart().split("\n")[0]?.slice(0, 200) || "thinking";
  if (block?.type === "tool_result" && typeof block.content === "string")
    return block.content.split("\n")[0]?.slice(0, 200) ?? "";
  return block?.type ?? "";
}

function remedyFor({ kind, seq }: Part, { events, view }: PolicyInput): Remedy {
  if (seq < 0) return "fixed";
  if (kind === "user") return "yours";
  if (kind === "instructions") return "file";
  const focus = openFocus(events);
  if (focus && seq > focus.resultSeq) return "/focus fold";
  return compactable(view).some((entry) => entry.seq === seq) ? "/compact" : "newest";
}

function adviceOn(part: Part, snapshot: PolicyInput): string {
  switch (part.kind) {
    case "system":
    case "tools":
      return "fixed for the session";
    case "instructions":
      return "shorten the instructions file";
    case "user":
      return "kept; a file's path is shorter";
    case "reasoning":
      return snapshot.model.contract.history === "prefix_bound"
        ? "goes with an edit before it"
        : "kept; less of it with --effort";
    case "actions":
      return isLines(part, snapshot) ? "kept: lines for earlier steps" : "editor inputs go near the limit";
    case "observations":
      return adviceOnResult(part, snapshot);
    case "knowledge":
      return "kept: it stands for folded steps";
    case "reminders":
      return "kept";
  }
}

/** Returns true for the text of a collapse, which stands for steps that are not in the view. */
function isLines({ seq, block }: Part, { view }: PolicyInput): boolean {
  const entry = view.entries.find((each) => each.seq === seq);
  return entry?.role === "user" && entry.blocks[block]?.type === "text";
}

function adviceOnResult({ seq, block }: Part, snapshot: PolicyInput): string {
  const { events, view, settings } = snapshot;
  if (isFound(view.entries.find((entry) => entry.seq === seq)?.blocks[block]))
    return "goes with its focus or a summary";
  const { context } = currentEngine(events);
  const index = view.entries.findIndex((entry) => entry.seq === seq);
  if (view.entries[index]?.edited) return "shortened already";
  const { policies, masks } = stackNamed(context);
  if (policies.length === 0) return `stays: ${context} forgets nothing`;
  if (index >= newestStep(view)) return "the newest step is never edited";
  const [offloads, economises] = [policies.includes(offloadPolicy), policies.includes(economistPolicy)];
  if ((offloads || economises) && isOversized(seq, snapshot) && !isQueued(seq, snapshot))
    return offloads ? "offloaded next" : "offloaded near the limit";
  if (!masks) return "goes with its focus or a summary";
  if (economises && isWaiting(seq, snapshot)) return "goes as soon as it pays";
  if (!economises && isQueued(seq, snapshot))
    return policies.includes(turnsPolicy) ? "goes as soon as it pays" : "goes next";
  const turns = turnsOf(view.entries);
  const at = turns.findIndex(({ results }) => results.some((entry) => entry.seq === seq));
  const left = settings.maskKeep - turns.slice(at + 1).filter(({ effective }) => effective).length;
  if (at === 0) return "stays: the first is never masked";
  return economises ? "kept while it is likely to be used" : `may go in ${plural(Math.max(1, left), "step")}`;
}

/** Pages that the provider found go back byte for byte: nothing can be shortened in them. */
function isFound(block: Block | undefined): boolean {
  return block?.type === "web_search_tool_result";
}

function isOversized(seq: number, snapshot: PolicyInput): boolean {
  return offloadCandidates(snapshot).some(({ edit }) => edit.seq === seq);
}

function isQueued(seq: number, snapshot: PolicyInput): boolean {
  const { policies } = stackNamed(currentEngine(snapshot.events).context);
  const stale = policies.includes(turnsPolicy) ? supersedeCandidates(snapshot) : [];
  const old = maskCandidates(snapshot, snapshot.settings.maskKeep);
  return [...stale, ...old].some(({ edit }) => edit.seq === seq);
}
