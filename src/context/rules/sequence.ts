/** Checks a request against the one sent before it, and edits against the log. Pure. */

import { type Block, isThinking } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { joinsRun } from "../../core/prompt-cache.ts";
import { currentModel } from "../../core/questions.ts";
import type { ModelRequest } from "../../core/request.ts";
import type { Composed } from "../request/compose.ts";
import type { View } from "../view/view.ts";
import { brokenEdits } from "./edits.ts";
import { brokenRules, type Violation } from "./request.ts";

/** The previous request, kept to check the next one against. Costs as much as the request has blocks. */
export type PreviousRequest = {
  request: ModelRequest;
  flat: readonly Flat[];
  /** Events in the log when it was made. */
  events: number;
  /** Indexes in `flat` up to which some request so far was written to the cache, as far as they still stand. */
  written: readonly number[];
};

/** A block where it stands. `position`: as the cache counts, runs of calls and of results as one. */
type Flat = { block: Block; role: string; message: number; scoped: boolean; position: number };

/** All eight rules for the next request; `before`: the one answered last in this run, if any. */
export function checkRequest(
  { request, expected }: Composed,
  { events, view }: { events: readonly LogEvent[]; view: View },
  before?: PreviousRequest,
): { broken: Violation[]; current: PreviousRequest } {
  const { model } = currentModel(events);
  const flat = flatten(request);
  const points = pointsIn(request, flat);
  const same = before ? commonPrefix(before.flat, flat) : 0;
  const written = (before?.written ?? []).filter((index) => index < same);
  // The message before the first that differs may be answered otherwise than it was.
  const from = Math.max(0, (flat[same]?.message ?? request.messages.length) - 1);
  const broken = brokenRules(request, model.contract.cache.maxBreakpoints, before ? from : 0);
  if (expected > model.window)
    broken.push(tooLarge(`about ${expected} tokens do not fit into a window of ${model.window}`));
  if (before) {
    const since = events.slice(before.events);
    broken.push(...brokenEdits(events, before.events, view));
    if (!since.some(rewrites)) broken.push(...prefixRules(before, request, same));
    if (model.contract.history === "prefix_bound" && request.model === before.request.model)
      broken.push(...thinkingRules(before, flat, { ...request, begun: same }));
    if (model.contract.cache.kind === "breakpoints")
      broken.push(...lookbackRule(flat, points, written, model.contract.cache.lookback));
  }
  const all = [...new Set([...written, ...points])];
  return { broken, current: { request, flat, events: events.length, written: all } };
}

function tooLarge(text: string): Violation {
  return { rule: 4, at: "", text, refusedByApi: true };
}

function rewrites(event: LogEvent): boolean {
  return event.type === "context_edited" || event.type === "model_changed";
}

function flatten({ messages }: ModelRequest): Flat[] {
  const flat: Flat[] = [];
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  let position = 0;
  for (const [message, { role, content, clear_at }] of messages.entries()) {
    const scoped = clear_at !== undefined;
    let type = "";
    for (const block of content) {
      if (!joinsRun(block.type, type) && !(scoped && message < lastUser)) position += 1;
      type = block.type;
      flat.push({ block, role, message, scoped, position });
    }
  }
  return flat;
}

/** Where the breakpoints stand among the blocks; that after the system text is -1. */
function pointsIn({ cacheAfter }: ModelRequest, flat: readonly Flat[]): number[] {
  return cacheAfter.map((point) => {
    if (point.after === "system") return -1;
    const first = flat.findIndex(({ message }) => message === point.message);
    return first < 0 ? -1 : first + point.block;
  });
}

function commonPrefix(first: readonly Flat[], other: readonly Flat[]): number {
  let index = 0;
  while (index < first.length && isSame(first[index], other[index])) index++;
  return index;
}

function isSame(first: Flat | undefined, other: Flat | undefined): boolean {
  if (!first || !other) return false;
  if (first.role !== other.role || first.message !== other.message || first.scoped !== other.scoped)
    return false;
  return isSameBlock(first.block, other.block);
}

/** Mostly the very same object: then nothing is read. */
function isSameBlock(first: Block, other: Block): boolean {
  if (first === other) return true;
  if (first.type !== "tool_result" || other.type !== "tool_result")
    return JSON.stringify(first) === JSON.stringify(other);
  if (first.tool_use_id !== other.tool_use_id || first.is_error !== other.is_error) return false;
  const [a, b] = [first.content, other.content];
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.length === b.length && a.every((part, at) => part === b[at]);
}

/** Rule 7. `same`: blocks that both begin with. */
function prefixRules(
  before: PreviousRequest,
  { model, system, tools }: ModelRequest,
  same: number,
): Violation[] {
  const changed = (text: string, at = ""): Violation[] => [{ rule: 7, at, text, refusedByApi: false }];
  const earlier = before.request;
  if (earlier.model !== model) return changed("the model changed without an event that says so");
  if (earlier.system !== system) return changed("the system text changed");
  if (earlier.tools !== tools && JSON.stringify(earlier.tools) !== JSON.stringify(tools))
    return changed("the tools changed");
  const last = Math.max(-1, ...pointsIn(earlier, before.flat));
  if (same > last) return [];
  return changed("changed, and no edit in the log says why", placeOf(before.flat, same));
}

/**
 * Rule 3. What stands before a thinking block, other thinking aside, must be what stood there in the request before;
 * of the thinking that this one had, a run may be left, from the start on or up to the end; none may come back.
 * `begun`: blocks that both begin with.
 */
function thinkingRules(
  before: PreviousRequest,
  flat: readonly Flat[],
  { blockBinding, begun }: Pick<ModelRequest, "blockBinding"> & { begun: number },
): Violation[] {
  const wrong = (text: string, at = ""): Violation => ({ rule: 3, at, text, refusedByApi: true });
  const binding =
    before.request.blockBinding && !blockBinding
      ? [wrong("drop_block was sent before and is not sent now")]
      : [];
  // Mostly a request begins with all of the one before: then no thinking went or came back.
  if (begun === before.flat.length) return binding;
  const [said, saying] = [wordsIn(before.flat), wordsIn(flat)];
  const same = commonPrefix(said, saying);
  const known = new Map(thoughtsIn(before.flat).map(({ block }, at) => [block, at]));
  const thoughts = thoughtsIn(flat);
  const broken = thoughts.flatMap(({ block, words, index }) => {
    if (same < said.length && words > same)
      return [wrong("the thinking stands after what was changed", placeOf(flat, index))];
    const back = words < said.length && !known.has(block);
    return back ? [wrong("the thinking came back", placeOf(flat, index))] : [];
  });
  const kept = thoughts.flatMap(({ block }) => known.get(block) ?? []);
  const last = kept.at(-1);
  const isCut = last !== undefined && thoughts.length > kept.length && last < known.size - 1;
  if (isCut || kept.some((at, index) => index > 0 && at !== (kept[index - 1] ?? 0) + 1))
    broken.push(wrong("thinking was taken out of the middle"));
  return [...broken, ...binding];
}

function wordsIn(flat: readonly Flat[]): Flat[] {
  return flat.filter(({ block }) => !isThinking(block));
}

/** The thinking, its place, and how many blocks of another kind stand before it. */
function thoughtsIn(flat: readonly Flat[]): { block: Block; index: number; words: number }[] {
  let words = 0;
  return flat.flatMap(({ block }, index) => {
    if (isThinking(block)) return [{ block, index, words }];
    words += 1;
    return [];
  });
}

/** Rule 8, the last part: from some breakpoint an entry that still stands is within reach. */
function lookbackRule(
  flat: readonly Flat[],
  points: readonly number[],
  written: readonly number[],
  lookback: number,
): Violation[] {
  const at = (index: number) => flat[index]?.position ?? 0;
  const reaches = (point: number) =>
    written.some((entry) => entry <= point && at(point) - at(entry) <= lookback);
  // What was written after the system text alone is always found.
  const standing = written.some((entry) => entry >= 0);
  if (!standing || points.some((point) => point >= 0 && reaches(point))) return [];
  const text = `no cache breakpoint is within ${lookback} positions of what is written`;
  return [{ rule: 8, at: "", text, refusedByApi: false, kind: "lookback" }];
}

function placeOf(flat: readonly Flat[], index: number): string {
  const { message = 0 } = flat[Math.min(index, flat.length - 1)] ?? {};
  const first = flat.findIndex((each) => each.message === message);
  return `messages.${message}.content.${Math.max(0, index - Math.max(0, first))}`;
}
