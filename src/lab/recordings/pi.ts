/** Reads a session that pi wrote: JSON Lines, one message in each. */

import type { AssistantBlock } from "../../core/blocks.ts";
import type { Usage } from "../../core/model-card.ts";
import { type Call, ownCall, resultOf } from "./calls.ts";
import { compaction, type Draft, draft } from "./draft.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf, timeOf } from "./json.ts";

const beside =
  /^(session|model_change|thinking_level_change|label|session_info|custom|custom_message|branch_summary)$/;

/** Returns true when these first entries of a file look like pi's. */
export function isPi(entries: readonly Fields[]): boolean {
  const [first] = entries;
  return first?.type === "session" && ("cwd" in first || "provider" in first);
}

/** The log of a pi session, in the order of the file. */
export function readPi(entries: readonly Fields[]): Draft {
  const start = entries[0] ?? {};
  const made = draft({
    at: timeOf(start.timestamp),
    sessionId: textOf(start.id),
    cwd: textOf(start.cwd),
    model: `${textOf(start.provider) || "unknown"}/${textOf(start.modelId) || "unknown"}`,
  });
  const calls = new Map<string, Call>();
  /** For each entry of the file the newest event before it: a compaction names the first entry that it keeps. */
  const before: number[] = [];
  for (const entry of entries) {
    before.push(made.events.length - 1);
    const kind = textOf(entry.type);
    if (kind === "message") takeMessage(made, entry, calls);
    else if (kind === "compaction") takeCompaction(made, entry, before);
    else if (beside.test(kind)) made.leaveOut(kind);
    else made.puzzle(kind || "line without a type");
  }
  return made;
}

function takeCompaction(made: Draft, entry: Fields, before: readonly number[]): void {
  const firstKept = countOf(entry.firstKeptEntryIndex);
  const to = before[firstKept] ?? made.events.length - 1;
  if (to > 0) made.append(timeOf(entry.timestamp), compaction(to, textOf(entry.summary)));
}

function takeMessage(made: Draft, entry: Fields, calls: Map<string, Call>): void {
  const message = fieldsOf(entry.message);
  const at = timeOf(entry.timestamp) ?? timeOf(message.timestamp);
  switch (message.role) {
    case "user":
      said(made, at, wordsOf(message.content));
      break;
    case "bashExecution":
      said(made, at, `Ran \`${textOf(message.command)}\`\n\`\`\`\n${textOf(message.output)}\n\`\`\``);
      break;
    case "assistant":
      takeReply(made, at, message, calls);
      break;
    case "toolResult": {
      const id = textOf(message.toolCallId);
      const output = { text: wordsOf(message.content), isError: message.isError === true };
      made.append(at, resultOf(id, calls.get(id), output));
      break;
    }
    default:
      made.puzzle(`message of ${textOf(message.role) || "nobody"}`);
  }
}

function said(made: Draft, at: number | undefined, text: string): void {
  if (text.trim() !== "") made.append(at, { type: "user_message", content: [{ type: "text", text }] });
}

function takeReply(made: Draft, at: number | undefined, message: Fields, calls: Map<string, Call>): void {
  const cut = /^(aborted|error)$/.test(textOf(message.stopReason));
  // Calls of a reply that was cut never ran.
  const content = listOf(message.content)
    .flatMap(blockOf)
    .filter((block) => !cut || block.type === "text");
  if (content.length === 0) {
    made.leaveOut("reply that was cut before it said anything");
    return;
  }
  for (const block of content) if (block.type === "tool_use") calls.set(block.id, block);
  made.append(at, {
    type: "assistant_message",
    content,
    stopReason: message.stopReason === "toolUse" ? "tool_use" : cut ? "interrupted" : "end_turn",
    usage: usageOf(fieldsOf(message.usage)),
    model: `${textOf(message.provider)}/${textOf(message.model)}`,
    durationMs: 0,
  });
}

function blockOf(value: unknown): AssistantBlock[] {
  const block = fieldsOf(value);
  switch (block.type) {
    case "text":
      return [{ type: "text", text: textOf(block.text) }];
    case "thinking": {
      const signature = textOf(block.thinkingSignature);
      return [{ type: "thinking", thinking: textOf(block.thinking), signature }];
    }
    case "toolCall":
      return [{ type: "tool_use", id: textOf(block.id), ...ownCall(textOf(block.name), block.arguments) }];
    default:
      return [];
  }
}

function usageOf(usage: Fields): Usage {
  return {
    inputTokens: countOf(usage.input),
    cacheReadTokens: countOf(usage.cacheRead),
    cacheWrite5mTokens: countOf(usage.cacheWrite),
    cacheWrite1hTokens: 0,
    outputTokens: countOf(usage.output),
  };
}

function wordsOf(content: unknown): string {
  if (typeof content === "string") return textOf(content);
  const parts = listOf(content).map(fieldsOf);
  return parts.map((block) => (block.type === "text" ? textOf(block.text) : "[image]")).join("\n");
}
