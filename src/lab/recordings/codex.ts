/** Reads a rollout that Codex wrote: JSON Lines of `response_item`s, with token counts between them. */

import type { AssistantBlock } from "../../core/blocks.ts";
import { noUsage, type Usage } from "../../core/model-card.ts";
import { type Call, ownCall, resultOf } from "./calls.ts";
import { compaction, type Draft, draft } from "./draft.ts";
import { countOf, type Fields, fieldsOf, listOf, parsed, textOf, timeOf } from "./json.ts";

/** Returns true when these first entries of a file look like Codex's. */
export function isCodex(entries: readonly Fields[]): boolean {
  return entries.some(
    ({ type, payload }) =>
      /^(session_meta|response_item|turn_context|event_msg)$/.test(textOf(type)) && payload !== undefined,
  );
}

/** A reply that is being put together: its parts are items of their own, and its usage comes after them. */
type Open = { at: number | undefined; content: AssistantBlock[] };

/** The log of a Codex rollout, in the order of the file. */
export function readCodex(entries: readonly Fields[]): Draft {
  const meta = fieldsOf(entries.find(({ type }) => type === "session_meta")?.payload);
  const turn = fieldsOf(entries.find(({ type }) => type === "turn_context")?.payload);
  const model = `${textOf(meta.model_provider) || "openai"}/${textOf(turn.model) || "unknown"}`;
  const instructions = meta.base_instructions ?? meta.instructions;
  const made = draft({
    at: timeOf(meta.timestamp) ?? timeOf(entries[0]?.timestamp),
    sessionId: textOf(meta.id),
    cwd: textOf(meta.cwd),
    model,
    system: textOf(fieldsOf(instructions).text ?? instructions),
  });
  const reading: Reading = { open: { at: undefined, content: [] }, calls: new Map(), model };
  for (const entry of entries) takeEntry(made, entry, reading);
  closeReply(made, reading);
  return made;
}

type Reading = { open: Open; calls: Map<string, Call>; model: string };

function takeEntry(made: Draft, entry: Fields, reading: Reading): void {
  const payload = fieldsOf(entry.payload);
  const at = timeOf(entry.timestamp);
  switch (entry.type) {
    case "response_item":
      takeItem(made, at, payload, reading);
      break;
    case "event_msg":
      if (payload.type === "token_count") takeUsage(made, payload, reading);
      made.leaveOut(textOf(payload.type) || "event_msg");
      break;
    case "compacted":
      closeReply(made, reading);
      made.append(at, compaction(made.events.length - 1, textOf(payload.message)));
      break;
    case "session_meta":
    case "turn_context":
      made.leaveOut(entry.type);
      break;
    default:
      made.puzzle(textOf(entry.type) || "line without a type");
  }
}

function takeItem(made: Draft, at: number | undefined, item: Fields, reading: Reading): void {
  const { open } = reading;
  const part = partOf(item, reading);
  if (part) {
    open.at ??= at;
    open.content.push(part);
  } else if (item.type === "message") {
    closeReply(made, reading);
    made.append(at, { type: "user_message", content: [{ type: "text", text: wordsOf(item.content) }] });
  } else if (/^(function|custom_tool|local_shell)_call_output$/.test(textOf(item.type))) {
    takeResult(made, at, item, reading);
  } else if (item.type === "reasoning") made.leaveOut("hidden reasoning");
  else made.puzzle(`item ${textOf(item.type) || "without a type"}`);
}

/** The block that an item adds to the reply, if it is part of one. */
function partOf(item: Fields, { calls }: Reading): AssistantBlock | undefined {
  switch (item.type) {
    case "message":
      return item.role === "assistant" ? { type: "text", text: wordsOf(item.content) } : undefined;
    case "reasoning": {
      const thinking = listOf(item.summary)
        .map((part) => textOf(fieldsOf(part).text))
        .join("\n");
      return thinking === "" ? undefined : { type: "thinking", thinking, signature: "" };
    }
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call": {
      const id = textOf(item.call_id) || textOf(item.id);
      const name = item.type === "local_shell_call" ? "local_shell" : textOf(item.name);
      const call = ownCall(name, item.arguments ?? item.input ?? item.action);
      calls.set(id, call);
      return { type: "tool_use", id, ...call };
    }
    default:
      return undefined;
  }
}

function takeResult(made: Draft, at: number | undefined, item: Fields, reading: Reading): void {
  closeReply(made, reading);
  const id = textOf(item.call_id);
  const output = typeof item.output === "string" ? (parsed(item.output) ?? item.output) : item.output;
  const facts = fieldsOf(output);
  const text = typeof output === "string" ? textOf(output) : textOf(facts.output ?? facts.content);
  const status = fieldsOf(facts.metadata).exit_code;
  const exitCode = typeof status === "number" ? status : undefined;
  const isError = exitCode !== undefined ? exitCode !== 0 : facts.success === false;
  made.append(
    at,
    resultOf(id, reading.calls.get(id), { text: text || wordsOf(item.output), isError, exitCode }),
  );
}

/** The count of the request that was just answered; it belongs to the newest reply. */
function takeUsage(made: Draft, payload: Fields, reading: Reading): void {
  const last = fieldsOf(fieldsOf(payload.info).last_token_usage);
  if (countOf(last.input_tokens) === 0) return;
  const index = closeReply(made, reading) ?? made.events.findLastIndex(isReply);
  const reply = made.events[index];
  if (reply && isReply(reply)) made.events[index] = { ...reply, usage: usageOf(last) };
}

function isReply(event: Draft["events"][number]) {
  return event.type === "assistant_message";
}

function usageOf(usage: Fields): Usage {
  const read = countOf(usage.cached_input_tokens);
  return {
    ...noUsage,
    inputTokens: Math.max(0, countOf(usage.input_tokens) - read),
    cacheReadTokens: read,
    outputTokens: countOf(usage.output_tokens),
  };
}

/** Appends the reply that was being put together, if there is one, and returns its index. */
function closeReply(made: Draft, { open, model }: Reading): number | undefined {
  const { content, at } = open;
  open.content = [];
  open.at = undefined;
  if (content.length === 0) return undefined;
  const stopReason = content.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
  return made.append(at, {
    type: "assistant_message",
    content,
    stopReason,
    usage: noUsage,
    model,
    durationMs: 0,
  });
}

function wordsOf(content: unknown): string {
  if (typeof content === "string") return textOf(content);
  return listOf(content)
    .map((part) => textOf(fieldsOf(part).text) || "[image]")
    .join("\n");
}
