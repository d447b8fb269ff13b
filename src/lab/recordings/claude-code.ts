/** Reads a session that Claude Code wrote: JSON Lines, one content block of a message in each line. */

import type { AssistantBlock, UserBlock } from "../../core/blocks.ts";
import { noUsage, type Usage } from "../../core/model-card.ts";
import { type Call, ownCall, resultOf } from "./calls.ts";
import { compaction, type Draft, draft } from "./draft.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf, timeOf } from "./json.ts";

/** Kinds of lines that never were part of the conversation. */
const beside =
  /^(system|progress|summary|file-history-snapshot|queue-operation|attachment|last-prompt|(custom|ai)-title|agent-name|permission-mode|mode|pr-link|tag)$/;

/** Returns true when these first entries of a file look like Claude Code's. */
export function isClaudeCode(entries: readonly Fields[]): boolean {
  return entries.some(
    ({ type, uuid, sessionId }) =>
      typeof sessionId === "string" && (typeof uuid === "string" || beside.test(textOf(type))),
  );
}

/** The log of a Claude Code session, in the order of the file. Lines of sub-agents are counted and left out. */
export function readClaudeCode(entries: readonly Fields[]): Draft {
  const first = entries.find(({ sessionId, cwd }) => sessionId && cwd) ?? {};
  const replies = repliesOf(entries);
  const model = [...replies.values()].map((reply) => reply.model).find(Boolean);
  const made = draft({
    at: timeOf(first.timestamp),
    sessionId: textOf(first.sessionId),
    cwd: textOf(first.cwd),
    model: `anthropic/${model ?? "unknown"}`,
  });
  const calls = new Map<string, Call>();
  for (const entry of entries) {
    const kind = textOf(entry.type);
    if (entry.isSidechain === true) made.leaveOut("line of a sub-agent");
    else if (kind === "user") takeUser(made, entry, calls);
    else if (kind === "assistant") takeReply(made, entry, replies, calls);
    else if (beside.test(kind)) made.leaveOut(kind);
    else made.puzzle(kind || "line without a type");
  }
  return made;
}

type Reply = { content: AssistantBlock[]; usage: Usage; model: string; stopReason: string };

/** A message spans several lines, each repeating its id and usage; results may stand between them. */
function repliesOf(entries: readonly Fields[]): Map<string, Reply> {
  const replies = new Map<string, Reply>();
  for (const entry of entries) {
    const message = fieldsOf(entry.message);
    if (entry.type !== "assistant" || entry.isSidechain === true) continue;
    const id = idOf(entry, message);
    const reply = replies.get(id) ?? {
      content: [],
      usage: noUsage,
      model: textOf(message.model),
      stopReason: "",
    };
    reply.content.push(...listOf(message.content).flatMap(blockOf));
    const usage = usageOf(fieldsOf(message.usage));
    // While it streams, the output is reported as one or two tokens: the largest is the latest.
    reply.usage = { ...usage, outputTokens: Math.max(usage.outputTokens, reply.usage.outputTokens) };
    reply.stopReason = textOf(message.stop_reason) || reply.stopReason;
    replies.set(id, reply);
  }
  return replies;
}

function idOf(entry: Fields, message: Fields): string {
  return textOf(message.id) || textOf(entry.uuid);
}

function blockOf(value: unknown): AssistantBlock[] {
  const block = fieldsOf(value);
  switch (block.type) {
    case "text":
      return [{ type: "text", text: textOf(block.text) }];
    case "thinking":
      return [{ type: "thinking", thinking: textOf(block.thinking), signature: textOf(block.signature) }];
    case "redacted_thinking":
      return [{ type: "redacted_thinking", data: textOf(block.data) }];
    case "tool_use":
      return [{ type: "tool_use", id: textOf(block.id), ...ownCall(textOf(block.name), block.input) }];
    default:
      return [];
  }
}

function usageOf(usage: Fields): Usage {
  const written = fieldsOf(usage.cache_creation);
  const long = countOf(written.ephemeral_1h_input_tokens);
  return {
    inputTokens: countOf(usage.input_tokens),
    cacheReadTokens: countOf(usage.cache_read_input_tokens),
    cacheWrite5mTokens: Math.max(0, countOf(usage.cache_creation_input_tokens) - long),
    cacheWrite1hTokens: long,
    outputTokens: countOf(usage.output_tokens),
  };
}

function takeReply(made: Draft, entry: Fields, replies: Map<string, Reply>, calls: Map<string, Call>): void {
  const id = idOf(entry, fieldsOf(entry.message));
  const reply = replies.get(id);
  if (!reply) return;
  replies.delete(id);
  if (entry.isApiErrorMessage === true || reply.model === "<synthetic>") {
    made.leaveOut("reply that never came");
    return;
  }
  for (const block of reply.content) if (block.type === "tool_use") calls.set(block.id, block);
  const { content, usage, model, stopReason } = reply;
  const facts = { content, usage, model: `anthropic/${model}`, durationMs: 0, messageId: id };
  made.append(timeOf(entry.timestamp), {
    type: "assistant_message",
    stopReason: stopReason || "end_turn",
    ...facts,
  });
}

function takeUser(made: Draft, entry: Fields, calls: Map<string, Call>): void {
  const at = timeOf(entry.timestamp);
  const { content } = fieldsOf(entry.message);
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  if (entry.isCompactSummary === true) {
    made.append(at, compaction(made.events.length - 1, blocks.map(wordsOf).join("\n")));
    return;
  }
  for (const value of blocks) {
    const block = fieldsOf(value);
    if (block.type !== "tool_result") continue;
    const id = textOf(block.tool_use_id);
    const output = { text: wordsOf(block), isError: block.is_error === true };
    made.append(at, resultOf(id, calls.get(id), output));
  }
  const said = blocks.flatMap(saidBlock);
  if (said.length > 0) made.append(at, { type: "user_message", content: said });
}

function saidBlock(value: unknown): UserBlock[] {
  const block = fieldsOf(value);
  if (block.type === "text" && textOf(block.text).trim() !== "")
    return [{ type: "text", text: textOf(block.text) }];
  return block.type === "image" ? [{ type: "text", text: "[image]" }] : [];
}

/** The text of a block, or of the blocks in it. Images are named. */
function wordsOf(value: unknown): string {
  const { type, text, content } = fieldsOf(value);
  if (type === "text") return textOf(text);
  if (type === "image") return "[image]";
  return typeof content === "string" ? textOf(content) : listOf(content).map(wordsOf).join("\n");
}
