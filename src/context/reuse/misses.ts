/**
 * Finds misses: a reply quotes what an edit had taken, and nothing in the window still holds it. A placeholder, a
 * summary, knowledge, and the words of the model and the person hold what they say. Pure, linear in the text.
 */

import { type AssistantBlock, isToolUse, resultText, type ToolUseBlock } from "../../core/blocks.ts";
import type { ContextEdit, EventOf, LogEvent } from "../../core/events.ts";
import { type ModelCard, noUsage, type Usage } from "../../core/model-card.ts";
import { blockTokens, textTokens } from "../view/tokens.ts";
import type { View } from "../view/view.ts";
import { type ObservationKind, observed, recordedKind } from "./kind.ts";
import { type LineTable, lineTable, textsOf, writtenIn } from "./lines.ts";

/** An observation that a reply quotes and the window does not hold. */
export type Missed = {
  /** The event of its result. */
  seq: number;
  kind: ObservationKind;
  /** Estimated tokens of its call and of its result, uncalibrated. */
  call: number;
  result: number;
};

export type MissReader = {
  /** Reads an event of the log, in its order. `whole`: the text of a result that the log has only a part of. */
  take(event: LogEvent, whole?: string): void;
  /**
   * Lists what a reply to a request with this view misses; the reply is taken later. Each counts as read again, and so
   * as held until an edit takes what is as new. `unchanged`: entries at the beginning of the view that are as they were
   * when this was last asked.
   */
  missed(content: readonly AssistantBlock[], view: View, unchanged?: number): Missed[];
  /**
   * Returns what a result reads again: most of its lines were taken by an edit, the view of the reply that asked held
   * none of these, and no call wrote the file since. Only for reads and searches; the result is taken later.
   */
  reread(event: EventOf<"tool_result">): Missed | undefined;
  /** Tokens of the calls and results that count as read again and are still held. */
  carried(): number;
};

/** A result whose lines are known, with its call. */
type Source = { event: EventOf<"tool_result">; call: ToolUseBlock; text: string };

/** A result that counts as read again, after the event with this seq. */
type Again = { text: string; after: number; tokens: number };

/** Reads a log event by event. `table`: lines of another reader of the same recording. */
export function missReader(table: LineTable = lineTable()): MissReader {
  const shown = shownLines(table);
  const held = heldLines(table);
  let again: Again[] = [];
  let last = 0;
  const reading = fromFirstEdit(shown.take);
  const take = (event: LogEvent, whole?: string): void => {
    last = event.seq;
    reading.take(event, whole);
    if (event.type !== "context_edited" || again.length === 0) return;
    const reach = Math.max(-1, ...event.edits.map(endOf));
    for (const { text, after } of again) if (reach > after) held.add(text, -1);
    again = again.filter(({ after }) => reach <= after);
  };
  const missed = (content: readonly AssistantBlock[], view: View, unchanged = 0): Missed[] => {
    if (!reading.begun()) return [];
    held.follow(view, unchanged);
    const lines = writtenIn(content).flatMap((text) => table.linesOf(text).filter((line) => !held.has(line)));
    const absent = Map.groupBy(lines, (line) => shown.by(line));
    return [...absent].flatMap(([source, quoted]) => {
      if (!source || quoted.every((line) => isMentioned(view, table.lineAt(line)))) return [];
      const miss = missOf(source);
      held.add(source.text, 1);
      again.push({ text: source.text, after: last, tokens: miss.call + miss.result });
      return [miss];
    });
  };
  const reread = (event: EventOf<"tool_result">): Missed | undefined => {
    if (!reading.begun() || event.rejected) return undefined;
    const all = table.linesOf(resultText(event.content));
    const lines = all.filter((line) => !held.has(line) && shown.by(line) !== undefined);
    const source = 2 * lines.length < all.length ? undefined : mostOf(lines, shown.by);
    return source && shown.readsOld(event, source) ? missOf(source) : undefined;
  };
  return { take, missed, reread, carried: () => again.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/** While nothing was taken, nothing can be missed: what was shown until then is read when something is. */
function fromFirstEdit(read: (event: LogEvent, whole: string | undefined) => void) {
  let waiting: LogEvent[] | undefined = [];
  const take = (event: LogEvent, whole: string | undefined): void => {
    if (whole !== undefined || event.type === "context_edited") {
      for (const earlier of waiting ?? []) read(earlier, undefined);
      waiting = undefined;
    }
    if (waiting) waiting.push(event);
    else read(event, whole);
  };
  return { take, begun: () => waiting === undefined };
}

/** The result that showed most of these lines. */
function mostOf(lines: readonly number[], by: (line: number) => Source | undefined): Source | undefined {
  const sources = [...Map.groupBy(lines, by)].sort((a, b) => b[1].length - a[1].length);
  return sources[0]?.[0];
}

/** Follows which result showed a line newest. */
function shownLines(table: LineTable) {
  const calls = new Map<string, ToolUseBlock>();
  const newest: (Source | undefined)[] = [];
  const wroteAt = new Map<string, number>();
  let replied = 0;
  const take = (event: LogEvent, whole: string | undefined): void => {
    if (event.type === "assistant_message") {
      replied = event.seq;
      for (const call of event.content.filter(isToolUse)) calls.set(call.id, call);
    }
    const call = event.type === "tool_result" ? calls.get(event.toolUseId) : undefined;
    if (event.type !== "tool_result" || !call || event.rejected) return;
    const text = whole ?? resultText(event.content);
    const source = { event, call, text };
    for (const line of table.linesOf(text)) newest[line] = source;
    for (const path of observed(call, event).wrote) wroteAt.set(path, event.seq);
  };
  /** Returns true for a read or search of something that was shown before the newest reply and not written since. */
  const readsOld = (event: EventOf<"tool_result">, source: Source): boolean => {
    const call = calls.get(event.toolUseId);
    if (!call || source.event.seq > replied) return false;
    const { kind, read } = observed(call, event);
    if (kind !== "read" && kind !== "search") return false;
    return read.every((path) => (wroteAt.get(path) ?? -1) < source.event.seq);
  };
  return { take, readsOld, by: (line: number) => newest[line] };
}

/** The newest event that an edit takes something of. */
function endOf(edit: ContextEdit): number {
  if (edit.type === "drop_thinking") return -1;
  return edit.type === "replace" ? edit.seq : edit.to;
}

/** Reading again gives a result of the same size, also where that was only a part. */
function missOf({ event, call }: Source): Missed {
  const { kind } = recordedKind(call, event);
  const result = textTokens(resultText(event.content)) + 12;
  return { seq: event.seq, kind, call: blockTokens(call), result };
}

/** Looks for a line inside of longer ones: a placeholder quotes it, a sentence names it. */
function isMentioned(view: View, line: string): boolean {
  return view.entries.some(({ blocks }) =>
    blocks.some((block) => textsOf(block).some((text) => text.includes(line))),
  );
}

/** Counts for each line how often the window holds it. */
function heldLines(table: LineTable) {
  const counts: number[] = [];
  const mirror: View["entries"][number]["blocks"][] = [];
  const add = (text: string, by: 1 | -1): void => {
    for (const line of table.linesOf(text)) counts[line] = (counts[line] ?? 0) + by;
  };
  const addAll = (blocks: (typeof mirror)[number], by: 1 | -1): void => {
    for (const block of blocks) for (const text of textsOf(block)) add(text, by);
  };
  /** An edit replaces the blocks of an entry: what is the same array is the same text. */
  const follow = ({ entries }: View, unchanged: number): void => {
    let from = Math.min(unchanged, mirror.length, entries.length);
    while (from < mirror.length && from < entries.length && mirror[from] === entries[from]?.blocks) from += 1;
    const gone = new Set(mirror.splice(from));
    for (const { blocks } of entries.slice(from)) {
      if (!gone.delete(blocks)) addAll(blocks, 1);
      mirror.push(blocks);
    }
    for (const blocks of gone) addAll(blocks, -1);
  };
  return { add, follow, has: (line: number) => (counts[line] ?? 0) > 0 };
}

/**
 * Usage of one more step that reads a thing again: the whole context once more from the cache, the call as output, call
 * and result written. `context`: tokens of the request that the quoting reply answers.
 */
export function rereadUsage(
  { context, call, result }: { context: number; call: number; result: number },
  { cache }: ModelCard["contract"],
): Usage {
  const added = call + result;
  if (cache.kind === "none" || context < cache.minTokens)
    return { ...noUsage, inputTokens: context + added, outputTokens: call };
  return { ...noUsage, cacheReadTokens: context, cacheWrite5mTokens: added, outputTokens: call };
}
