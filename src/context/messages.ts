/** From the view's entries to messages the API accepts: paired, merged, in order. Pure. */

import { type Block, isThinking, isToolUse, type Message, type ToolResultBlock } from "../core/blocks.ts";
import type { Entry } from "./view.ts";

/** A message and the seq of the entry that its last block came from. */
export type Placed = { message: Message; seq: number };

/** What a call that never got its result is told to have returned. */
const interruptedText =
  "[interrupted] Sawtooth stopped before this call finished. Its effects are unknown: check before you repeat it.";

/**
 * The messages of a view. Every call gets exactly one result, in the order of the calls, first thing in the next
 * message; results without a call and messages without content are left out; neighbours of one role are merged.
 */
export function messagesOf(entries: readonly Entry[]): Placed[] {
  const placed: Placed[] = [];
  for (let index = 0; index < entries.length; ) {
    const entry = entries[index] as Entry;
    if (entry.role === "assistant") {
      const following = entries.slice(index + 1, endOfStep(entries, index + 1));
      const role = placed.at(-1)?.message.role;
      const step = role && role !== "assistant" ? stepOf(entry, following) : undefined;
      if (step) placed.push(...step);
      else {
        pushAssistant(placed, entry);
        pushInput(placed, following, callsOf(entry));
      }
      index += 1 + following.length;
    } else {
      const end = endOfStep(entries, index);
      pushInput(placed, entries.slice(index, end), []);
      index = end;
    }
  }
  return placed;
}

function endOfStep(entries: readonly Entry[], from: number): number {
  let end = from;
  while (end < entries.length && entries[end]?.role !== "assistant") end++;
  return end;
}

/** A step's messages, and what they were made of. */
type Step = { parts: Pick<Entry, "blocks" | "seq">[]; placed: readonly Placed[] };

/** By the blocks of the reply: an edited entry has other ones. */
const known = new WeakMap<readonly Block[], Step>();

/** A reply and what answers it. The same entries give the same objects: a request is put together of those before. */
function stepOf(reply: Entry, following: readonly Entry[]): readonly Placed[] | undefined {
  const earlier = known.get(reply.blocks);
  if (earlier && isMadeOf(earlier, reply, following)) return earlier.placed;
  const content = spoken(reply);
  if (!content) return undefined;
  const placed: Placed[] = [{ message: { role: "assistant", content }, seq: reply.seq }];
  pushInput(placed, following, callsOf(reply));
  const parts = [reply, ...following].map(({ blocks, seq }) => ({ blocks, seq }));
  known.set(reply.blocks, { parts, placed });
  return placed;
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

/** What a reply says; undefined for one of thinking alone (cut by its length), which cannot be sent back. */
function spoken(entry: Entry): Block[] | undefined {
  const content = entry.blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
  return content.every(isThinking) ? undefined : content;
}

function pushAssistant(placed: Placed[], entry: Entry): void {
  const content = spoken(entry);
  if (!content || placed.length === 0) return;
  if (placed.at(-1)?.message.role === "assistant") extendLast(placed, content, entry.seq);
  else placed.push({ message: { role: "assistant", content }, seq: entry.seq });
}

/** A new message in place of the last: that one may belong to the step that it was made for. */
function extendLast(placed: Placed[], content: readonly Block[], seq?: number): void {
  const last = placed.pop();
  if (!last) return;
  const message = { ...last.message, content: [...last.message.content, ...content] };
  placed.push({ message, seq: seq ?? last.seq });
}

/** Results first, then what was said, in the order of the log; a system reminder is a message of its own. */
function pushInput(placed: Placed[], entries: readonly Entry[], calls: readonly string[]): void {
  const results = resultsIn(entries);
  let content: Block[] = calls.map((id) => results.get(id) ?? interrupted(id));
  let seq = placed.at(-1)?.seq ?? 0;
  for (const entry of entries) {
    if (entry.role === "user") {
      content.push(...entry.blocks.filter(isSaid));
      seq = entry.seq;
      continue;
    }
    pushUser(placed, content, seq);
    pushSystem(placed, entry);
    content = [];
  }
  pushUser(placed, content, seq);
}

function resultsIn(entries: readonly Entry[]): Map<string, ToolResultBlock> {
  const results = new Map<string, ToolResultBlock>();
  for (const block of entries.flatMap((entry) => entry.blocks)) {
    if (block.type === "tool_result" && !results.has(block.tool_use_id))
      results.set(block.tool_use_id, filled(block));
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

function pushUser(placed: Placed[], content: Block[], seq: number): void {
  if (content.length === 0) return;
  if (placed.at(-1)?.message.role === "user") extendLast(placed, content, seq);
  else placed.push({ message: { role: "user", content }, seq });
}

/** It must follow the user's message; what was said before it has then already been sent, and stays where it is. */
function pushSystem(placed: Placed[], { blocks, seq }: Entry): void {
  const last = placed.at(-1);
  if (last?.message.role === "system") extendLast(placed, blocks);
  else if (last?.message.role === "user") {
    const content = [...blocks];
    placed.push({ message: { role: "system", content, clear_at: "next_user_message" }, seq });
  }
}
