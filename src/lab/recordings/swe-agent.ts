/** Reads the trajectories of SWE-agent (`.traj`) and mini-swe-agent (`.traj.json`): one JSON value a file. */

import type { AssistantBlock } from "../../core/blocks.ts";
import { noUsage, type Usage } from "../../core/model-card.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { type Call, ownCall, resultOf } from "./calls.ts";
import { type Draft, draft } from "./draft.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf, timeOf } from "./json.ts";

export function isMiniSweAgent(value: Fields): boolean {
  return Array.isArray(value.messages) && /^mini-swe-agent/.test(formatOf(value));
}

function formatOf(value: Fields): string {
  return textOf(value.trajectory_format) || ("mini_version" in fieldsOf(value.info) ? "mini-swe-agent" : "");
}

export function isSweAgent(value: Fields): boolean {
  return Array.isArray(value.history) && Array.isArray(value.trajectory);
}

/** The log of a mini-swe-agent trajectory. */
export function readMiniSweAgent(value: Fields): Draft {
  return readMessages(listOf(value.messages).map(fieldsOf), textOf(value.instance_id));
}

/** The log of a SWE-agent trajectory. It has no times and no usage per reply. */
export function readSweAgent(value: Fields): Draft {
  const history = listOf(value.history).map(fieldsOf);
  const main = history.filter(({ agent }) => agent === undefined || agent === history[0]?.agent);
  const made = readMessages(main, textOf(value.environment));
  for (let index = main.length; index < history.length; index++) made.leaveOut("message of another agent");
  return made;
}

/** A call that waits for its result; without an id of its own the next user message is its result. */
type Waiting = { id: string; call: Call; answered: boolean }[];

function readMessages(messages: readonly Fields[], sessionId: string): Draft {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => wordsOf(content));
  const response = messages.map(responseOf).find((each) => "model" in each) ?? {};
  const made = draft({
    at: timeOf(response.created),
    sessionId,
    cwd: "",
    model: textOf(response.model) || "unknown",
    system: system.join("\n\n"),
  });
  let waiting: Waiting = [];
  for (const message of messages) {
    switch (message.role) {
      case "system":
        break;
      case "assistant":
        waiting = takeReply(made, message);
        break;
      case "user":
      case "tool":
        takeInput(made, message, waiting);
        break;
      case "exit":
        made.leaveOut("exit");
        break;
      default:
        made.puzzle(`message of ${textOf(message.role) || "nobody"}`);
    }
  }
  return made;
}

function responseOf(message: Fields): Fields {
  return fieldsOf(fieldsOf(message.extra).response);
}

function takeReply(made: Draft, message: Fields): Waiting {
  const response = responseOf(message);
  const waiting = callsOf(message, made.events.length);
  const thinking = textOf(message.reasoning_content);
  const text = wordsOf(message.content);
  const content: AssistantBlock[] = [
    ...(thinking ? [{ type: "thinking" as const, thinking, signature: "" }] : []),
    ...(text ? [{ type: "text" as const, text }] : []),
    ...waiting.map(({ id, call }) => ({ type: "tool_use" as const, id, ...call })),
  ];
  made.append(timeOf(fieldsOf(message.extra).timestamp), {
    type: "assistant_message",
    content,
    stopReason: waiting.length > 0 ? "tool_use" : "end_turn",
    usage: usageOf(fieldsOf(response.usage)),
    model: textOf(response.model) || "unknown",
    durationMs: 0,
  });
  return waiting;
}

/** Calls of the API, else the action that the text holds. */
function callsOf(message: Fields, seq: number): Waiting {
  const calls = listOf(message.tool_calls).map(fieldsOf);
  if (calls.length > 0) {
    return calls.map((each, index) => {
      const { name, arguments: given } = fieldsOf(each.function);
      const id = textOf(each.id) || `call_${seq}_${index}`;
      return { id, call: ownCall(textOf(name), given), answered: false };
    });
  }
  const fenced = /```(?:bash|mswea_bash_command)\n([\s\S]*?)\n```/.exec(wordsOf(message.content))?.[1];
  const command = textOf(message.action) || fenced;
  return command ? [{ id: `call_${seq}`, call: ownCall(toolNames.bash, { command }), answered: false }] : [];
}

function takeInput(made: Draft, message: Fields, waiting: Waiting): void {
  const extra = fieldsOf(message.extra);
  const at = timeOf(extra.timestamp);
  const text = wordsOf(message.content);
  const id = textOf(message.tool_call_id) || textOf(listOf(message.tool_call_ids)[0]);
  const answered = waiting.find((each) => !each.answered && (id === "" || each.id === id));
  if (!answered) {
    made.append(at, { type: "user_message", content: [{ type: "text", text }] });
    return;
  }
  answered.answered = true;
  const exitCode = typeof extra.returncode === "number" ? extra.returncode : undefined;
  const isError = exitCode !== undefined && exitCode !== 0;
  made.append(at, resultOf(answered.id, answered.call, { text, isError, exitCode }));
}

/** `prompt_tokens` includes what was read from the cache. */
function usageOf(usage: Fields): Usage {
  const details = fieldsOf(usage.prompt_tokens_details);
  const read = countOf(usage.prompt_cache_hit_tokens) || countOf(details.cached_tokens);
  return {
    ...noUsage,
    inputTokens: Math.max(0, countOf(usage.prompt_tokens) - read),
    cacheReadTokens: read,
    outputTokens: countOf(usage.completion_tokens),
  };
}

function wordsOf(content: unknown): string {
  if (typeof content === "string") return textOf(content);
  return listOf(content)
    .map((part) => textOf(fieldsOf(part).text))
    .join("\n");
}
