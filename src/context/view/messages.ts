/** Converts the view's entries to messages that the API accepts: paired, merged, in order. Pure. */

import {
  type Block,
  isThinking,
  isToolUse,
  type Message,
  type ToolChangeBlock,
  type ToolResultBlock,
} from "../../core/blocks.ts";
import { withWholeSearches } from "./searches.ts";
import type { Entry } from "./view.ts";

/** A message, and for each of its blocks the seq of the entry that it came from. */
export type LocatedMessage = { message: Message; seqs: readonly number[] };

/** The result that stands for a call that never got one. */
const interruptedText =
  "[interrupted] Sawtooth stopped before this call finished. Its effects are unknown: check before you repeat it.";

/**
 * The messages of a view. Every call gets exactly one result, in the order of the calls, first thing in the next
 * message; results without a call and messages without content are left out; neighbours of one role are merged.
 */
export function messagesOf(entries: readonly Entry[]): LocatedMessage[] {
  const messages: LocatedMessage[] = [];
  const gate: Gate = new Set();
  let before: Entry | undefined;
  for (let index = 0; index < entries.length; ) {
    let entry = entries[index] as Entry;
    if (entry.role === "assistant") {
      const following = entries.slice(index + 1, endOfStep(entries, index + 1));
      entry = withWholeSearches(entry, { before, following, after: entries[index + 1 + following.length] });
      before = entry;
      const role = messages.at(-1)?.message.role;
      const step = role && role !== "assistant" ? stepOf(entry, following) : undefined;
      if (step) messages.push(...step);
      else {
        pushAssistant(messages, entry);
        pushInput(messages, following, callsOf(entry), gate);
      }
      index += 1 + following.length;
    } else {
      const end = endOfStep(entries, index);
      pushInput(messages, entries.slice(index, end), [], gate);
      index = end;
    }
  }
  return messages;
}

function endOfStep(entries: readonly Entry[], from: number): number {
  let end = from;
  while (end < entries.length && entries[end]?.role !== "assistant") end++;
  return end;
}

/** A step's messages, and what they were made of. */
type Step = { parts: Pick<Entry, "blocks" | "seq">[]; messages: readonly LocatedMessage[] };

/** By the blocks of the reply: an edited entry has other ones. */
const known = new WeakMap<readonly Block[], Step>();

/** A reply and what answers it. The same entries give the same objects: a request is put together of those before. */
function stepOf(reply: Entry, following: readonly Entry[]): readonly LocatedMessage[] | undefined {
  const earlier = known.get(reply.blocks);
  if (earlier && isMadeOf(earlier, reply, following)) return earlier.messages;
  const content = spoken(reply);
  // What a change of the tools says hangs on those before it, so such a step is made each time.
  if (!content || following.some((entry) => entry.withdrawn)) return undefined;
  const messages = [placedAs({ role: "assistant", content }, reply.seq)];
  pushInput(messages, following, callsOf(reply), new Set());
  const parts = [reply, ...following].map(({ blocks, seq }) => ({ blocks, seq }));
  known.set(reply.blocks, { parts, messages });
  return messages;
}

function isMadeOf({ parts }: Step, reply: Entry, following: readonly Entry[]): boolean {
  if (parts.length !== following.length + 1) return false;
  return parts.every((part, index) => {
    const entry = index === 0 ? reply : following[index - 1];
    return part.blocks === entry?.blocks && part.seq === entry.seq;
  });
}

function callsOf(entry: Entry): string[] {
  return entry.blocks.filter(isToolUse).map((block) => block.id);
}

/**
 * Returns a reply's blocks that can be sent; undefined for one of thinking alone (cut by its length), which cannot be
 * sent back.
 */
function spoken(entry: Entry): Block[] | undefined {
  const content = entry.blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
  return content.every(isThinking) ? undefined : content;
}

function pushAssistant(messages: LocatedMessage[], entry: Entry): void {
  const content = spoken(entry);
  if (!content || messages.length === 0) return;
  if (messages.at(-1)?.message.role === "assistant") extendLast(messages, content, entry.seq);
  else messages.push(placedAs({ role: "assistant", content }, entry.seq));
}

function placedAs(message: Message, seq: number): LocatedMessage {
  return { message, seqs: message.content.map(() => seq) };
}

/** A new message in place of the last: that one may belong to the step that it was made for. */
function extendLast(messages: LocatedMessage[], content: readonly Block[], seq: number): void {
  const last = messages.pop();
  if (!last) return;
  const message = { ...last.message, content: [...last.message.content, ...content] };
  messages.push({ message, seqs: [...last.seqs, ...content.map(() => seq)] });
}

/**
 * Results first, then what was said, in the order of the log, and last what the system says: the API takes a system
 * message only between a user's and a reply. What is said after it, because its request failed, goes before it.
 */
function pushInput(
  messages: LocatedMessage[],
  entries: readonly Entry[],
  calls: readonly string[],
  gate: Gate,
): void {
  const results = calls.length > 0 ? resultsIn(entries) : new Map<string, Result>();
  const content: Block[] = [];
  const seqs: number[] = [];
  for (const id of calls) {
    const { block, seq } = results.get(id) ?? {
      block: interrupted(id),
      seq: messages.at(-1)?.seqs.at(-1) ?? 0,
    };
    content.push(block);
    seqs.push(seq);
  }
  for (const { role, blocks, seq } of entries) {
    if (role !== "user") continue;
    const said = blocks.filter(isSaid);
    content.push(...said);
    seqs.push(...said.map(() => seq));
  }
  pushUser(messages, { message: { role: "user", content }, seqs });
  // Of several changes without a reply between them the newest says all that holds.
  const newest = entries.findLast((entry) => entry.withdrawn);
  for (const entry of entries)
    if (entry.role === "system" && (!entry.withdrawn || entry === newest)) pushSystem(messages, entry, gate);
}

type Result = { block: ToolResultBlock; seq: number };

function resultsIn(entries: readonly Entry[]): Map<string, Result> {
  const results = new Map<string, Result>();
  for (const { blocks, seq } of entries) {
    for (const block of blocks) {
      if (block.type === "tool_result" && !results.has(block.tool_use_id))
        results.set(block.tool_use_id, { block: filled(block), seq });
    }
  }
  return results;
}

function isSaid(block: Block): boolean {
  return block.type !== "tool_result" && (block.type !== "text" || block.text.trim() !== "");
}

/** Neither an empty result nor an empty text in one is accepted. */
function filled(block: ToolResultBlock): ToolResultBlock {
  if (typeof block.content !== "string") {
    const content = block.content.filter((part) => part.type !== "text" || part.text.trim() !== "");
    return content.length === 0 ? { ...block, content: "(no output)" } : { ...block, content };
  }
  return block.content.length === 0 ? { ...block, content: "(no output)" } : block;
}

function interrupted(id: string): ToolResultBlock {
  return { type: "tool_result", tool_use_id: id, content: interruptedText, is_error: true };
}

function pushUser(messages: LocatedMessage[], made: LocatedMessage): void {
  if (made.message.content.length === 0) return;
  // A reply that cannot be sent back (thinking alone) leaves a system message before this: what is said goes before it.
  const at = messages.findLastIndex(({ message }) => message.role !== "system");
  const before = messages[at];
  if (before?.message.role !== "user") return void messages.push(made);
  const content = [...before.message.content, ...made.message.content];
  messages[at] = { message: { ...before.message, content }, seqs: [...before.seqs, ...made.seqs] };
}

/** Gives reminders for one request a message of their own; changes of the tools stay for good. */
function pushSystem(messages: LocatedMessage[], entry: Entry, gate: Gate): void {
  const content = entry.withdrawn ? changesTo(entry.withdrawn, gate) : entry.blocks;
  const last = messages.at(-1);
  if (content.length === 0 || !last || last.message.role === "assistant") return;
  const scoped = entry.withdrawn ? {} : { clear_at: "next_user_message" as const };
  const { role, clear_at } = last.message;
  if (role === "system" && clear_at === scoped.clear_at) extendLast(messages, content, entry.seq);
  else messages.push(placedAs({ role: "system", content: [...content], ...scoped }, entry.seq));
}

/** The tools that are not offered at this point of the messages. */
type Gate = Set<string>;

/** Only what differs may be said: to withdraw what is not offered, or to offer what is, is refused. */
function changesTo(withdrawn: readonly string[], gate: Gate): ToolChangeBlock[] {
  const change = (type: ToolChangeBlock["type"], name: string): ToolChangeBlock => ({
    type,
    tool: { type: "tool_reference", name },
  });
  const back = [...gate].filter((name) => !withdrawn.includes(name));
  const gone = withdrawn.filter((name) => !gate.has(name));
  for (const name of back) gate.delete(name);
  for (const name of gone) gate.add(name);
  return [
    ...back.map((name) => change("tool_addition", name)),
    ...gone.map((name) => change("tool_removal", name)),
  ];
}
