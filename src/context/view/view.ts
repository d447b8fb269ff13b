/** The view: the log with every edit applied. Pure; extended one event at a time. */

import { type AssistantBlock, type Block, isCarried, isThinking, resultText } from "../../core/blocks.ts";
import type { ContextEdit, EventOf, LogEvent, Rejection } from "../../core/events.ts";
import { memoizeBy } from "../../core/memoize.ts";
import { eventAt, indexFrom, userMessages } from "../../core/questions.ts";
import { withInstructionTags } from "../../core/text/tags.ts";
import { blocksTokens } from "./tokens.ts";

/** One event's share of the view. `tokens` is the uncalibrated estimate of its blocks. */
export type Entry = {
  seq: number;
  role: "user" | "assistant" | "system";
  blocks: Block[];
  tokens: number;
  edited?: true;
  /** The model that made this reply, when its API wants something in it back. */
  by?: string;
  /** The call whose result this is did not run. */
  rejected?: Rejection;
  /** Index of the block that takes what is learned. */
  knowledge?: number;
  /** True for the user's own text, which no collapse removes. */
  isUserText?: true;
  /** Paths of the instructions that its text is: no edit shortens it, and its text survives a collapse. */
  standing?: readonly string[];
  /** Leaves the view with the next reply: a reminder for one request. */
  sentOnce?: true;
  /** The tools not offered from here on; its blocks follow from the entries before it, when the messages are made. */
  withdrawn?: readonly string[];
};

export type View = {
  entries: Entry[];
  /** Sum over the entries, uncalibrated; system and tools not included. */
  tokens: number;
  /** Events folded so far. */
  applied: number;
  /** Entries at the beginning that the newest read left as they were. */
  unchanged: number;
  /** The model that thinking is made for. */
  model: { id: string; history: "free" | "prefix_bound" };
  /** True when the history sent again may have broken thinking: then the API is told to drop it (provider-facts §2). */
  dropBlock: boolean;
};

/** The view of a log. Pure: every call reads all events, and gives a view of its own. */
export function applyEvents(events: readonly LogEvent[]): View {
  return viewReader().read(events);
}

/** Reads the view of one log that grows: each read applies only the events since the last one. */
export type ViewReader = {
  /** The view now. It is the reader's own and changes with the next read: keep nothing of it across reads. */
  read(events: readonly LogEvent[]): View;
};

export function viewReader(): ViewReader {
  const none = { id: "", history: "free" as const };
  const view: View = { entries: [], tokens: 0, applied: 0, unchanged: 0, model: none, dropBlock: false };
  return {
    read(events) {
      view.unchanged = view.entries.length;
      for (const event of events.slice(view.applied)) applyEvent(view, event, events);
      view.applied = events.length;
      return view;
    },
  };
}

function applyEvent(view: View, event: LogEvent, events: readonly LogEvent[]): void {
  if (event.type === "context_edited") applyEdits(view, event.edits);
  else if (event.type === "session_started" || event.type === "model_changed")
    changeModel(view, event, events);
  else push(view, event);
}

/**
 * A bound model accepts no thinking but its own; a free one passes over foreign thinking, and may ask for that of a
 * running tool loop, so there it stays, or comes back when it was left out for a bound model. A change of effort
 * changes nothing.
 */
function changeModel(
  view: View,
  { seq, model }: EventOf<"session_started"> | EventOf<"model_changed">,
  events: readonly LogEvent[],
): void {
  const other = view.model.id !== "" && view.model.id !== model.id;
  view.model = { id: model.id, history: model.contract.history };
  if (!other) return;
  if (view.model.history === "prefix_bound") applyEdits(view, [{ type: "drop_thinking", to: seq }]);
  else giveBackThinking(view, events);
}

/** The newest reply as it was made: no edit but the loss of its thinking can have touched it. */
function giveBackThinking(view: View, events: readonly LogEvent[]): void {
  const index = view.entries.findLastIndex(({ role }) => role === "assistant");
  const entry = view.entries[index];
  const reply = entry && eventAt(events, entry.seq);
  if (!entry || reply?.type !== "assistant_message") return;
  const current = entry.blocks.filter((block) => !isThinking(block));
  const same = reply.content
    .filter((block) => !isThinking(block))
    .every((block, at) => block === current[at]);
  if (!same || entry.blocks.length === reply.content.length) return;
  rewrite(view, index, [...reply.content]);
}

/** How many messages of the person the view does not hold: must be none, whatever was forgotten (goal drift). */
export function missingUserMessages(events: readonly LogEvent[], view: View): number {
  const present = new Set(view.entries.filter((entry) => entry.isUserText).map((entry) => entry.seq));
  return userMessages(events).filter(({ seq }) => !present.has(seq)).length;
}

/** The tools that are not offered at the end of the view. */
export function withdrawnIn(view: View): readonly string[] {
  return view.entries.findLast((entry) => entry.withdrawn)?.withdrawn ?? [];
}

function push(view: View, event: LogEvent): void {
  if (event.type === "assistant_message") dropPassing(view);
  const made = entryOf(event);
  if (!made || (made.blocks.length === 0 && !made.withdrawn)) return;
  const by = made.role === "assistant" && made.blocks.some(isCarried) ? { by: view.model.id } : {};
  const entry: Entry = { seq: event.seq, ...made, ...by, tokens: blocksTokens(made.blocks) };
  if (event.type === "reminder" && event.released) release(view, event.released);
  const read = event.type === "tool_result" || event.type === "reminder" ? event.instructions : undefined;
  if (read) {
    releaseOlder(view, read);
    entry.standing = read;
  }
  view.entries.push(entry);
  view.tokens += entry.tokens;
}

/** Only the newest text of an instruction file stands; what was read of it before may be forgotten. */
function releaseOlder(view: View, paths: readonly string[]): void {
  for (const entry of view.entries)
    if (entry.standing?.every((path) => paths.includes(path))) delete entry.standing;
}

function release(view: View, seqs: readonly number[]): void {
  for (const entry of view.entries) if (seqs.includes(entry.seq)) delete entry.standing;
}

/** Drops reminders for one request once its reply has come. */
function dropPassing(view: View): void {
  for (let index = view.entries.length - 1; index >= 0; index--) {
    const entry = view.entries[index];
    if (entry?.role === "assistant") return;
    if (!entry?.sentOnce) continue;
    view.entries.splice(index, 1);
    view.tokens -= entry.tokens;
    view.unchanged = Math.min(view.unchanged, index);
  }
}

/** An entry before its tokens are counted. */
type Made = Omit<Entry, "seq" | "tokens" | "edited">;

function messageEntry({ preamble = [], content, knowledge }: EventOf<"user_message">): Made {
  const blocks = [...preamble, ...content];
  return {
    role: "user" as const,
    blocks,
    isUserText: true as const,
    ...(knowledge === undefined ? {} : { knowledge }),
  };
}

function entryOf(event: LogEvent): Made | undefined {
  switch (event.type) {
    case "user_message":
      return messageEntry(event);
    case "assistant_message":
      return { role: "assistant", blocks: event.content };
    case "tool_result":
      return madeOfResult(event);
    case "tools_gated":
      return { role: "system", blocks: [], withdrawn: event.withdrawn };
    case "reminder":
      return {
        role: event.channel === "turn_scoped" ? "system" : "user",
        blocks: [{ type: "text", text: event.text }],
        ...(event.channel === "tail" ? { sentOnce: true } : {}),
      };
    case "session_started":
    case "model_changed":
    case "session_named":
    case "settings_changed":
    case "permission_decided":
    case "sandbox":
    case "quarantined":
    case "runs_elsewhere":
    case "context_edited":
    case "model_request":
    case "summary_call":
    case "model_failed":
    case "warning":
    case "egress":
    case "mcp_called":
    case "delegate_started":
    case "delegate_called":
    case "delegate_ended":
    case "turn_ended":
      return undefined;
    default:
      return event satisfies never;
  }
}

function madeOfResult(event: EventOf<"tool_result">): Made {
  const { rejected } = event;
  return { role: "user", blocks: [resultBlock(event)], ...(rejected ? { rejected } : {}) };
}

/** The same block for every view of the log, so that its tokens are counted once. */
const resultBlock = memoizeBy(
  (event: EventOf<"tool_result">): Block => ({
    type: "tool_result",
    tool_use_id: event.toolUseId,
    content: event.content,
    ...(event.isError ? { is_error: true as const } : {}),
  }),
);

/**
 * Edits of one event are made on the view that they were planned on; only then goes the thinking behind them, which
 * would shift the blocks that they name.
 */
function applyEdits(view: View, edits: readonly ContextEdit[]): void {
  const bound = view.model.history === "prefix_bound";
  for (const edit of edits) applyEdit(view, edit, bound);
  const changed = edits.filter(({ type }) => type !== "drop_thinking");
  if (bound && changed.length > 0) dropThinkingFrom(view, firstChanged(changed));
}

/** Seq of the first event that reads otherwise after these edits; infinite without any. */
export function firstChanged(edits: readonly ContextEdit[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const edit of edits) first = Math.min(first, startOf(edit));
  return first;
}

function startOf(edit: ContextEdit): number {
  switch (edit.type) {
    case "replace":
      return edit.seq;
    case "collapse":
      return edit.from;
    case "drop_thinking":
      return 0;
  }
}

function applyEdit(view: View, edit: ContextEdit, bound: boolean): void {
  switch (edit.type) {
    case "replace":
      replaceBlock(view, edit);
      break;
    case "collapse":
      collapse(view, edit);
      break;
    case "drop_thinking": {
      const end = indexFrom(view.entries, edit.to + 1);
      for (let index = 0; index < end; index++) withoutThinking(view, index);
      view.dropBlock ||= bound;
    }
  }
}

function replaceBlock(view: View, edit: Extract<ContextEdit, { type: "replace" }>): void {
  const index = indexFrom(view.entries, edit.seq);
  const entry = view.entries[index];
  const block = entry?.seq === edit.seq ? entry.blocks[edit.block] : undefined;
  if (!entry || !block) return;
  delete entry.standing;
  rewrite(view, index, entry.blocks.with(edit.block, withText(block, edit.text)));
}

/** The same block reading `text`; pairing and error state stay. */
function withText(block: Block, text: string): Block {
  switch (block.type) {
    case "tool_result":
      return { ...block, content: text };
    case "tool_use":
      return { ...block, input: shortenedInput(block.input, text) };
    case "text":
    case "image":
    case "thinking":
    case "redacted_thinking":
    case "server_tool_use":
    case "web_search_tool_result":
    case "tool_removal":
    case "tool_addition":
      return { type: "text", text };
    default:
      return block satisfies never;
  }
}

/** A call's input without its long strings, and `text` in their place. */
export function shortenedInput(input: unknown, text: string): Record<string, unknown> {
  const short = Object.entries(input ?? {}).filter(([, value]) => String(value).length <= 200);
  return { ...Object.fromEntries(short), omitted: text };
}

function collapse(view: View, edit: Extract<ContextEdit, { type: "collapse" }>): void {
  const start = indexFrom(view.entries, edit.from);
  if (start === view.entries.length) return;
  const end = Math.max(start, indexFrom(view.entries, edit.to + 1));
  const span = view.entries.slice(start, end);
  // What was withdrawn stays withdrawn: the newest such entry says all that is so.
  const gate = span.findLast((entry) => entry.withdrawn);
  const survivors = span.flatMap((entry) => {
    if (entry.standing) return [standingEntry(entry, entry.standing)];
    return entry.isUserText || entry === gate ? [entry] : [];
  });
  const standIn = collapsedEntry(span[0], edit);
  view.entries.splice(start, end - start, standIn, ...survivors);
  view.tokens += standIn.tokens + tokensOf(survivors) - tokensOf(span);
  view.unchanged = Math.min(view.unchanged, start);
}

/** Instructions without the call that read them. */
function standingEntry(entry: Entry, [path = ""]: readonly string[]): Entry {
  const [block] = entry.blocks;
  if (block?.type !== "tool_result") return entry;
  const blocks: Block[] = [
    { type: "text", text: withInstructionTags({ path, text: resultText(block.content) }) },
  ];
  return { ...entry, blocks, tokens: blocksTokens(blocks), edited: true };
}

function tokensOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, 0);
}

function collapsedEntry(first: Entry | undefined, edit: { from: number; text: string }): Entry {
  const result =
    first?.seq === edit.from ? first.blocks.find((block) => block.type === "tool_result") : undefined;
  const blocks: Block[] = result
    ? [{ type: "tool_result", tool_use_id: result.tool_use_id, content: edit.text }]
    : [{ type: "text", text: edit.text }];
  return { seq: edit.from, role: "user", blocks, tokens: blocksTokens(blocks), edited: true };
}

/** Thinking at or after a changed position is bound to what is no longer there: out for good. */
function dropThinkingFrom(view: View, seq: number): void {
  for (let index = indexFrom(view.entries, seq + 1); index < view.entries.length; index++) {
    if (withoutThinking(view, index)) view.dropBlock = true;
  }
}

function withoutThinking(view: View, index: number): boolean {
  const { blocks = [], by } = view.entries[index] ?? {};
  // What another model's API wants back is not sent to this one, and may be wanted again.
  const isDropped = (block: Block) => isThinking(block) && (by === view.model.id || !isCarried(block));
  if (!blocks.some(isDropped)) return false;
  rewrite(view, index, blocks.filter((block) => !isDropped(block)) as AssistantBlock[]);
  return true;
}

function rewrite(view: View, index: number, blocks: Block[]): void {
  const entry = view.entries[index];
  if (!entry) return;
  view.tokens -= entry.tokens;
  entry.blocks = blocks;
  entry.tokens = blocksTokens(blocks);
  entry.edited = true;
  view.tokens += entry.tokens;
  view.unchanged = Math.min(view.unchanged, index);
}
