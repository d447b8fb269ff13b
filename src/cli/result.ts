/** What a headless run says at its end: the result object and the exit code. Pure. */

import { isToolUse } from "../core/blocks.ts";
import type { LogEvent, TurnEnd } from "../core/events.ts";
import { addUsage, costOf, inputTotal, noUsage, type Usage } from "../core/model-card.ts";
import { allOf, changedFiles, findCall, lastOf, spending, started } from "../core/questions.ts";

export type Subtype =
  | "success"
  | "error_max_turns"
  | "error_max_budget"
  | "error_max_time"
  | "error_permission"
  | "error_model"
  | "error_interrupted"
  | "error_during_execution";

export type Denial = { tool_name: string; tool_use_id: string; tool_input: unknown; rule: string };

/** Why the run is over and what the shell is told. `signal`: the signal that ended it, if one did. */
export function verdict(events: readonly LogEvent[], signal?: "SIGINT" | "SIGTERM" | "SIGHUP") {
  const end = lastOf(events, "turn_ended");
  return outcomeOf(end?.reason ?? "error", events, signal);
}

function outcomeOf(
  reason: TurnEnd,
  events: readonly LogEvent[],
  signal: string | undefined,
): { subtype: Subtype; exitCode: number } {
  switch (reason) {
    case "rest":
      return isBlocked(events)
        ? { subtype: "error_permission", exitCode: 5 }
        : { subtype: "success", exitCode: 0 };
    case "max_turns":
      return { subtype: "error_max_turns", exitCode: 3 };
    case "max_budget":
      return { subtype: "error_max_budget", exitCode: 3 };
    case "max_time":
      return { subtype: "error_max_time", exitCode: 3 };
    case "interrupted":
      return { subtype: "error_interrupted", exitCode: { SIGTERM: 143, SIGHUP: 129 }[signal ?? ""] ?? 130 };
    case "model_error":
      return {
        subtype: "error_model",
        exitCode: lastOf(events, "model_failed")?.kind === "credentials" ? 4 : 6,
      };
    case "loop":
      return { subtype: "error_during_execution", exitCode: 3 };
    case "refusal":
    case "output_limit":
    case "context_full":
    case "error":
      return { subtype: "error_during_execution", exitCode: 1 };
  }
}

/** Work is blocked when nothing that the model tried after the last denial of this turn succeeded. */
function isBlocked(events: readonly LogEvent[]): boolean {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "user_message") return false;
    if (event?.type === "permission_decided" && event.decision === "deny") return true;
    if (event?.type === "tool_result" && !event.isError && event.toolName !== "todo") return false;
  }
  return false;
}

/** Every call that was denied in the session. */
export function denials(events: readonly LogEvent[]): Denial[] {
  return allOf(events, "permission_decided")
    .filter((event) => event.decision === "deny")
    .map((event) => {
      const call = findCall(events, event.toolUseId);
      return {
        tool_name: call?.name ?? "",
        tool_use_id: event.toolUseId,
        tool_input: call?.input,
        rule: event.rule,
      };
    });
}

/** The text of the newest reply that has any. */
export function lastText(events: readonly LogEvent[]): string {
  const reply = events.findLast(
    (event) => event.type === "assistant_message" && event.content.some((block) => block.type === "text"),
  );
  if (reply?.type !== "assistant_message") return "";
  return reply.content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

/** The last line of `stream-json` and the whole of `json` (design §5). */
export function resultObject(
  events: readonly LogEvent[],
  how: { durationMs: number; signal?: "SIGINT" | "SIGTERM" | "SIGHUP" },
) {
  const { subtype } = verdict(events, how.signal);
  const end = lastOf(events, "turn_ended");
  const spent = spending(events);
  const { sessionId } = started(events);
  return {
    type: "result",
    subtype,
    is_error: subtype !== "success",
    result: lastText(events),
    session_id: sessionId,
    num_turns: spent.turns,
    duration_ms: how.durationMs,
    duration_api_ms: spent.apiMs,
    total_cost_usd: spent.cost,
    usage: wireUsage(spent.usage),
    modelUsage: usageByModel(events),
    permission_denials: denials(events),
    structured_output: null,
    errors: subtype === "success" ? [] : [end?.detail ?? end?.reason ?? "the run was cut off"],
    terminal_reason: end?.reason ?? "error",
    ...(end && /^max_/.test(end.reason) ? { limit: end.reason } : {}),
    changed_files: changedFiles(events),
    resume: `sawtooth -p -r ${sessionId} "continue"`,
    context: contextTotals(events),
  };
}

/** Token counts under the names of the Messages API. */
export function wireUsage(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
    output_tokens: usage.outputTokens,
  };
}

function usageByModel(events: readonly LogEvent[]) {
  const totals: Record<string, { usage: Usage; cost: number }> = {};
  let model = started(events).model;
  for (const event of events) {
    if (event.type === "model_changed") model = event.model;
    if (event.type !== "assistant_message") continue;
    const total = totals[model.id] ?? { usage: noUsage, cost: 0 };
    totals[model.id] = {
      usage: addUsage(total.usage, event.usage),
      cost: total.cost + costOf(event.usage, model.prices),
    };
  }
  return Object.fromEntries(
    Object.entries(totals).map(([id, { usage, cost }]) => [id, { ...wireUsage(usage), cost_usd: cost }]),
  );
}

function contextTotals(events: readonly LogEvent[]) {
  const sizes = allOf(events, "assistant_message").map((event) => inputTotal(event.usage));
  const edits = allOf(events, "context_edited");
  const usage = spending(events).usage;
  const input = inputTotal(usage);
  return {
    peak_tokens: Math.max(0, ...sizes),
    last_tokens: sizes.at(-1) ?? 0,
    edits: edits.length,
    folds: edits.filter((event) => event.policy === "focus").length,
    cache_hit_rate: input === 0 ? 0 : usage.cacheReadTokens / input,
    tool_calls: allOf(events, "assistant_message").reduce(
      (sum, event) => sum + event.content.filter(isToolUse).length,
      0,
    ),
  };
}
