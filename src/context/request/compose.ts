/** Composes the next request from the log. Pure: the same log gives the same bytes, now and in a report. */

import {
  type Block,
  isCarried,
  isSearch,
  isThinking,
  type Message,
  type TextBlock,
  type ToolUseBlock,
} from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { memoizeBy, memoizedReduce } from "../../core/memoize.ts";
import type { Contract, ModelCard } from "../../core/model-card.ts";
import { currentModel, indexFrom, lastOf, openFocus, started } from "../../core/questions.ts";
import type { CachePoint, ModelRequest, ToolDefinition, WebSearch } from "../../core/request.ts";
import { withoutSearches } from "../../core/text/search-text.ts";
import { maskOf } from "../policies/masking.ts";
import { type LocatedMessage, messagesOf } from "../view/messages.ts";
import { calibration, fixedTokens } from "../view/tokens.ts";
import { applyEvents, type Entry, firstChanged, type View, withdrawnIn } from "../view/view.ts";
import { type Checkpoint, cachePoints, type Untouched } from "./cache-points.ts";

/** Most tokens requested for a reply: a longer one is better split, and a cut-off call is lost work. */
const maxReplyTokens = 32_000;

/** `estimated`: input tokens as bytes over four; `expected`: the same, calibrated by what the API reported. */
export type Composed = { request: ModelRequest; estimated: number; expected: number };

/** The request that follows from a log whose view is `view`. */
export function composeRequest(events: readonly LogEvent[], view: View): Composed {
  const { system, tools, webSearch } = started(events);
  const { model, effort } = currentModel(events);
  const searches = webSearch && canSearch(model, webSearch) ? { webSearch } : undefined;
  const sent = view.entries
    .filter((entry) => isSent(entry, model.contract))
    .map((entry) =>
      hasSearches(entry) && !(searches && readsSearches(entry, model))
        ? { ...entry, blocks: withoutSearches(entry.blocks) }
        : entry,
    )
    .map((entry) =>
      entry.by && entry.by !== model.id ? { ...entry, blocks: uncarried(entry.blocks) } : entry,
    );
  const messages = messagesOf(sent.filter((entry) => !entry.sentOnce));
  const previous = lastOf(events, "assistant_message");
  const caches = model.contract.cache.kind === "breakpoints";
  const estimated = fixedTokens(events) + view.tokens;
  const expected = Math.ceil(estimated * calibration(events));
  const request: ModelRequest = {
    model: model.id,
    system,
    tools: declaredTo(model.contract, tools),
    messages: withTail(messages, sent, model.contract),
    cacheAfter: cachePoints(messages, model.contract, checkpoint(events, view), untouched(events, view)),
    ...withheld(view, model.contract),
    ...searches,
    maxTokens: Math.max(1, Math.min(maxReplyTokens, model.maxOutput, model.window - expected)),
    thinking: model.thinking,
    ...(model.contract.thinking === "carried" ? { carried: true as const } : {}),
    ...(effort ? { effort } : {}),
    ...(view.dropBlock && model.contract.history === "prefix_bound"
      ? { blockBinding: "drop_block" as const }
      : {}),
    ...(previous?.messageId && caches && sameModel(events, previous)
      ? { previousMessageId: previous.messageId }
      : {}),
  };
  return { request, estimated, expected };
}

/** Fewest tokens of the window to leave for an answer. */
const leastAnswer = 1000;

/** Returns false when the input alone leaves no room for an answer in the model's window. */
export function fitsWindow({ expected }: Composed, { window }: ModelCard): boolean {
  return expected + leastAnswer < window;
}

/** A system message reaches only models that take one: after a change of model the others leave it out. */
function isSent(entry: Entry, { reminders, toolGating }: Contract): boolean {
  if (entry.withdrawn) return toolGating === "tool_changes";
  return entry.role !== "system" || reminders === "turn_scoped";
}

/** Only a model whose tools can change in mid-conversation knows tools that are not offered at first. */
function declaredTo({ toolGating }: Contract, tools: ToolDefinition[]): ToolDefinition[] {
  const isKnown = toolGating === "tool_changes" || !tools.some((tool) => tool.defer_loading);
  return isKnown ? tools : tools.filter((tool) => !tool.defer_loading);
}

function hasSearches({ role, blocks }: Entry): boolean {
  return role === "assistant" && blocks.some(isSearch);
}

/** Most domains that the search of Responses leaves out; with more of them denied there is none. */
export const mostBlocked = 100;

/** Returns true for a model that has a web search which can leave out all the domains that are denied. */
export function canSearch({ prices, api }: ModelCard, { blockedDomains }: WebSearch): boolean {
  return prices.webSearch !== undefined && (api !== "responses" || blockedDomains.length <= mostBlocked);
}

/** Returns true for searches that this model may have back: its own over Responses, over Messages those of any model. */
function readsSearches({ by, blocks }: Entry, { id, api }: ModelCard): boolean {
  const own = api === "responses";
  return blocks.filter(isSearch).every((block) => isCarried(block) === own) && !(own && by && by !== id);
}

/** The blocks of another model's reply without what only its own API reads. The same blocks give the same result. */
const uncarried = memoizeBy((blocks: Block[]): Block[] =>
  blocks.flatMap((block): Block[] => {
    if (!isCarried(block)) return [block];
    if (isThinking(block)) return [];
    const { wire, ...rest } = block as TextBlock | ToolUseBlock;
    if (rest.type !== "text") return [rest];
    const { citations, ...text } = rest;
    return [text];
  }),
);

function withheld(view: View, { toolGating }: Contract): Pick<ModelRequest, "withdrawn"> {
  const withdrawn = toolGating === "allowed_tools" ? withdrawnIn(view) : [];
  return withdrawn.length > 0 ? { withdrawn: [...withdrawn] } : {};
}

/** Returns true when no change of the model came since: the id of another model's reply means nothing to this one. */
function sameModel(events: readonly LogEvent[], { seq }: LogEvent): boolean {
  return (lastOf(events, "model_changed")?.seq ?? 0) < seq;
}

/**
 * Adds the blocks that are sent once, behind the last cache breakpoint. A system message stays the last: no message of
 * the user may come after one.
 */
function withTail(
  located: readonly LocatedMessage[],
  entries: readonly Entry[],
  { reminders }: Contract,
): Message[] {
  const messages = located.map(({ message }) => message);
  const content = entries.flatMap((entry) => (entry.sentOnce ? entry.blocks : []));
  if (content.length === 0) return messages;
  if (reminders === "developer") return [...messages, { role: "system", content }];
  const at = messages.findLastIndex(({ role }) => role !== "system");
  const last = messages[at];
  if (last?.role !== "user") return [...messages, { role: "user", content }];
  return messages.with(at, { ...last, content: [...last.content, ...content] });
}

/**
 * The last entry that the next fold or flush keeps: the one before the open focus, else the one before the first
 * result that could still be masked. It is read, and so kept alive, by every request until then.
 */
function checkpoint(events: readonly LogEvent[], view: View): Checkpoint | undefined {
  const focus = openFocus(events);
  if (focus) {
    const entry = view.entries.findLast((each) => each.seq < focus.resultSeq);
    return entry && { seq: entry.seq, long: true };
  }
  const first = view.entries.findIndex(isResult);
  const whole = view.entries.findIndex(
    (each, index) => index > first && isResult(each) && maskOf(each, { events, view }, index).length > 0,
  );
  const entry = view.entries[whole - 1];
  return entry && { seq: entry.seq, long: false };
}

function isResult({ blocks }: Entry): boolean {
  return blocks[0]?.type === "tool_result";
}

/** In the request after an edit: up to where the view is as it was, and what of that is in the cache. */
function untouched(events: readonly LogEvent[], view: View): Untouched | undefined {
  const { edited, newest, standing } = cached(events);
  const last = newest.at(-1);
  if (!edited || !last) return undefined;
  const before = (first: number) => view.entries[indexFrom(view.entries, first) - 1]?.seq ?? -1;
  const marked = newest.map(({ first, points }) => ({ seq: before(first), points }));
  const written = standing.at(-1);
  // All that this request ended with stands before what was edited since.
  return { seq: before(last.first), marked, ...(written === undefined ? {} : { written: written - 1 }) };
}

/** Answered requests whose breakpoints are kept: an edit mostly leaves one of theirs standing. */
const mostMarked = 12;

/**
 * The answered requests, of which the cache holds what they were sent with. Of a request that failed nothing is known.
 * `standing`: seqs of those that end before all that was edited since. `first`: where the edits since begin.
 */
type Cached = {
  /** Set when the newest reply was followed by an edit. */
  edited: boolean;
  newest: { first: number; points: readonly CachePoint[] }[];
  standing: number[];
  /** The request that has no reply yet. */
  asked?: { seq: number; first: number; points: readonly CachePoint[] } | undefined;
};

const cached = memoizedReduce<Cached>(
  () => ({ edited: false, newest: [], standing: [] }),
  (state, event) => {
    if (event.type === "model_request")
      state.asked = { seq: event.seq, first: Number.POSITIVE_INFINITY, points: event.cacheAfter };
    else if (event.type === "assistant_message") answered(state);
    else if (event.type === "context_edited") cut(state, firstChanged(event.edits));
    return state;
  },
);

function answered(state: Cached): void {
  state.edited = false;
  const { asked } = state;
  if (!asked) return;
  state.newest = [...state.newest.slice(1 - mostMarked), { first: asked.first, points: asked.points }];
  if (asked.first >= asked.seq) state.standing.push(asked.seq);
  state.asked = undefined;
}

function cut(state: Cached, first: number): void {
  state.edited ||= first < Number.POSITIVE_INFINITY;
  for (const request of [...state.newest, ...(state.asked ? [state.asked] : [])])
    request.first = Math.min(request.first, first);
  while ((state.standing.at(-1) ?? -1) > first) state.standing.pop();
}

/** The request of step `step` (from 1), rebuilt from the log alone; undefined when there was no such step. */
export function requestOfStep(events: readonly LogEvent[], step: number): Composed | undefined {
  let count = 0;
  const index = events.findIndex((event) => event.type === "model_request" && ++count === step);
  if (index < 0) return undefined;
  const before = events.slice(0, index);
  return composeRequest(before, applyEvents(before));
}
