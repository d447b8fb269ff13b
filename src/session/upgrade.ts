/**
 * Upgrades events written by earlier versions: each becomes the event that today's version would have written. The
 * wording of earlier versions is recognised only here. Pure.
 */

import { permissionModes } from "../core/decision.ts";
import type { EventOf, LogEvent, Rejection, RuleNumber, Task, WarningCode } from "../core/events.ts";
import { currentCard, type ModelCard } from "../core/model-card.ts";
import { toolNames } from "../core/tool-calls.ts";

type Line = { seq: number; at: number; type: string };

/** Returns the same event with today's fields; an up-to-date one is returned unchanged. */
export function upgraded<T extends Line>(line: T): T {
  const change = changes[line.type as LogEvent["type"]] as ((event: T) => T) | undefined;
  return change ? change(line) : line;
}

/** Renames `side_call` (a call for a summary) and the reason `rest` (of a turn that the model completed). */
export function renamed(line: unknown): unknown {
  const { type, reason } = (line ?? {}) as { type?: unknown; reason?: unknown };
  if (type === "side_call") return { ...(line as object), type: "summary_call" };
  if (type === "turn_ended" && reason === "rest") return { ...(line as object), reason: "completed" };
  return line;
}

function withShell(event: EventOf<"user_message">): EventOf<"user_message"> {
  const [block, more] = Array.isArray(event.content) ? event.content : [];
  if (event.shell || more !== undefined || block?.type !== "text") return event;
  const [, command] = /^<ran_in_shell>\n\$ ([\s\S]*?)\n\n[\s\S]*\n<\/ran_in_shell>$/.exec(block.text) ?? [];
  return command === undefined ? event : { ...event, shell: { command } };
}

function withKnowledge(event: EventOf<"user_message">): EventOf<"user_message"> {
  if (event.knowledge !== undefined || !Array.isArray(event.preamble)) return event;
  const at = event.preamble.findIndex(({ text }) => text === "Knowledge of this session:");
  return at < 0 ? event : { ...event, knowledge: at };
}

const rejections: [pattern: RegExp, rejected: Rejection][] = [
  [/^There is no tool /, "unknown_tool"],
  [/^Invalid input for /, "invalid_input"],
  [/^Not permitted: /, "denied"],
  [/^\[cancelled by user\]$/, "cancelled"],
];

function withFields(event: EventOf<"tool_result">): EventOf<"tool_result"> {
  if (event.isError && event.rejected === undefined && typeof event.content === "string") {
    const { content } = event;
    const found = rejections.find(([pattern]) => pattern.test(content));
    return found && event.stats === undefined ? { ...event, rejected: found[1] } : event;
  }
  const isList = event.toolName === toolNames.todo && !event.isError && event.tasks === undefined;
  return isList && typeof event.content === "string" ? { ...event, tasks: tasksIn(event.content) } : event;
}

const statuses: Record<string, Task["status"]> = { "[ ]": "open", "[>]": "active", "[x]": "done" };

function tasksIn(recited: string): Task[] {
  return recited.split("\n").flatMap((line): Task[] => {
    const [, mark = "", text = ""] = /^- (\[[ >x]\]) (.*)$/.exec(line) ?? [];
    const status = statuses[mark];
    return status ? [{ text, status }] : [];
  });
}

function withFold(event: EventOf<"context_edited">): EventOf<"context_edited"> {
  const [, objective] = /^focus closed: ([\s\S]*)$/.exec(event.reason) ?? [];
  return event.fold || objective === undefined || !event.policy.startsWith("focus")
    ? event
    : { ...event, fold: { objective } };
}

/** Replaces the rule of a denial without a suggested rule, which used to hold the mode. */
function withMode(event: EventOf<"permission_decided">): EventOf<"permission_decided"> {
  const mode = permissionModes.find((each) => each === event.rule);
  return event.mode || !mode ? event : { ...event, mode };
}

const warnings: [pattern: RegExp, code: WarningCode][] = [
  [/^\S+ failed unexpectedly: /, "tool_crashed"],
  [/^the API dropped \d+ thinking blocks /, "thinking_dropped"],
  [/^the reply repeated "/, "reply_repeated"],
  [/: (?:all thinking was left out|the history was put together anew from the log)$/, "history_repaired"],
  [/^\d+ user messages are no longer in the context$/, "messages_lost"],
  [/^summaries by the model have not paid: /, "summaries_stopped"],
  [/^the API refused a request as too long: /, "window_learned"],
];

function withCode(event: EventOf<"warning">): EventOf<"warning"> {
  if (event.code) return event;
  const rule = /^a rule of the context engine is broken: rule ([1-8]):/.exec(event.text)?.[1];
  if (rule) return { ...event, code: "rule_broken", rule: Number(rule) as RuleNumber };
  const found = warnings.find(([pattern]) => pattern.test(event.text));
  return found ? { ...event, code: found[1] } : event;
}

/** Renames `heldTokens`, the tokens whose forgetting is deferred. */
function withDeferred(event: EventOf<"model_request">): EventOf<"model_request"> {
  const { heldTokens, ...rest } = event as EventOf<"model_request"> & { heldTokens?: number };
  return heldTokens === undefined ? event : { ...rest, deferredTokens: heldTokens };
}

function withCard<T extends { model: ModelCard }>(event: T): T {
  const model = currentCard(event.model);
  return model === event.model ? event : { ...event, model };
}

const changes: { [T in LogEvent["type"]]?: (event: EventOf<T>) => EventOf<T> } = {
  session_started: withCard,
  model_changed: withCard,
  summary_call: (event) => (event.card ? { ...event, card: currentCard(event.card) } : event),
  user_message: (event) => withShell(withKnowledge(event)),
  model_request: withDeferred,
  tool_result: withFields,
  context_edited: withFold,
  permission_decided: withMode,
  warning: withCode,
};
