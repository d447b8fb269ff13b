/** The end of a headless run: the result object and the exit code. Pure. */

import { contextFigures, editsByPolicy } from "../../context/report/report.ts";
import { isToolUse } from "../../core/blocks.ts";
import type { LogEvent, TurnEnd } from "../../core/events.ts";
import { addUsage, costOf, noUsage, type Usage } from "../../core/model-card.ts";
import { type Egress, foldEgress, hostRule } from "../../core/network/egress.ts";
import {
  allOf,
  cardOf,
  changedFiles,
  findCall,
  isModelCall,
  lastOf,
  lastText,
  sinceMessage,
  spending,
  started,
} from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { inQuarantine, runsElsewhere } from "../../permissions/sandbox/watched.ts";
import { wireEgress } from "./egress.ts";

/** An answer as a value that fits its schema, or why there is none. */
export type Answer = { value: unknown } | { error: string };

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

export type RunSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/**
 * Facts about a run that are not in the log: the signal that ended it, and the answer as data where one was requested.
 */
export type RunSummary = { durationMs: number; signal?: RunSignal; answer?: Answer };

export type ResultObject = ReturnType<typeof resultObject>;
/** The object as it is written; a run whose session is not kept has none. */
export type WrittenResult = Omit<ResultObject, "session_id" | "resume"> &
  Record<"session_id" | "resume", string | null>;

/** Returns the reason why the run is over and the exit code. */
export function verdict(
  events: readonly LogEvent[],
  { signal, answer }: Omit<RunSummary, "durationMs"> = {},
) {
  const outcome = outcomeOf(lastOf(events, "turn_ended")?.reason ?? "error", events, signal);
  if (outcome.exitCode !== 0 || !answer || "value" in answer) return outcome;
  return { subtype: "error_during_execution" as const, exitCode: 1 };
}

function outcomeOf(
  reason: TurnEnd,
  events: readonly LogEvent[],
  signal: string | undefined,
): { subtype: Subtype; exitCode: number } {
  switch (reason) {
    case "completed":
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
    case "hook":
      return { subtype: "error_during_execution", exitCode: 5 };
    case "loop":
      return { subtype: "error_during_execution", exitCode: 3 };
    case "refusal":
    case "output_limit":
    case "context_full":
    case "error":
      return { subtype: "error_during_execution", exitCode: 1 };
  }
}

/** Returns true when no call succeeded after the last denial of this turn. */
function isBlocked(events: readonly LogEvent[]): boolean {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "user_message") return false;
    if (event?.type === "permission_decided" && event.decision === "deny") return true;
    if (event?.type === "egress" && isRefused(event)) return true;
    if (event?.type === "tool_result" && !event.isError && event.toolName !== toolNames.todo) return false;
  }
  return false;
}

/** True for a connection that somebody could have allowed. */
function isRefused(entry: Egress): boolean {
  return entry.decision === "deny" && (entry.reason === "exposure" || hostRule(entry) !== undefined);
}

/** Returns the hosts that were refused, as denials: the rule is the one that would allow each. */
function refusedHosts(events: readonly LogEvent[]): Denial[] {
  return foldEgress(allOf(events, "egress"))
    .filter(isRefused)
    .map((entry) => ({
      tool_name: "network",
      tool_use_id: entry.command ?? "",
      tool_input: { host: entry.host, port: entry.port },
      rule: hostRule(entry) ?? entry.rule ?? "",
    }));
}

/** Returns true when a turn ended at a limit that the user set. */
export function isLimit(reason: TurnEnd): boolean {
  return reason === "max_turns" || reason === "max_budget" || reason === "max_time";
}

function why(subtype: Subtype, events: readonly LogEvent[]): string {
  if (subtype === "error_permission") return deniedText(events);
  const end = lastOf(events, "turn_ended");
  return end?.detail ?? end?.reason ?? "the run was cut off";
}

const mostRules = 5;

/** Counts the denied calls of this turn, and names the flags that would have allowed them. */
function deniedText(events: readonly LogEvent[]): string {
  const denied = allOf(sinceMessage(events), "permission_decided").filter(
    ({ decision }) => decision === "deny",
  );
  const hosts = [...new Set(refusedHosts(sinceMessage(events)).map(({ rule }) => rule))].slice(0, mostRules);
  if (denied.length === 0 && hosts.length > 0) {
    const flags = hosts.map((rule) => `--allow '${rule}'`).join(" ");
    return `${hosts.length === 1 ? "1 host was" : `${hosts.length} hosts were`} refused; allow with ${flags}`;
  }
  // Where no rule can be suggested, the mode is named instead.
  const open = denied.filter(({ by, rule, mode }) => by === "headless" && rule !== mode);
  const [count, them] = denied.length === 1 ? ["1 call was", "it"] : [`${denied.length} calls were`, "them"];
  const rules = [...new Set((open.length > 0 ? open : denied).map(({ rule }) => rule))].slice(0, mostRules);
  if (denied.every(({ by }) => by === "changed"))
    return `${count} denied: the tools of ${rules.join(", ")} changed; sawtooth mcp review shows how, and asks`;
  if (open.length === 0) return `${count} denied (${rules.join(", ")})`;
  const flags = rules.map((rule) => `--allow '${rule.replaceAll("'", "'\\''")}'`).join(" ");
  return `${count} denied; allow ${open.length < denied.length ? `${open.length} of them` : them} with ${flags}`;
}

/** Returns every call that was denied in the session. */
function denials(events: readonly LogEvent[]): Denial[] {
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

/** Returns the last line of `stream-json` and the whole of `json` (design §5). */
export function resultObject(events: readonly LogEvent[], summary: RunSummary) {
  const { subtype } = verdict(events, summary);
  const end = lastOf(events, "turn_ended");
  const spent = spending(events);
  const { sessionId } = started(events);
  const unfit =
    end?.reason === "completed" && summary.answer && "error" in summary.answer
      ? summary.answer.error
      : undefined;
  return {
    type: "result",
    subtype,
    is_error: subtype !== "success",
    result: lastText(events),
    session_id: sessionId,
    num_turns: spent.turns,
    duration_ms: summary.durationMs,
    duration_api_ms: spent.apiMs,
    total_cost_usd: spent.cost,
    usage: wireUsage(spent.usage),
    modelUsage: usageByModel(events),
    permission_denials: [...denials(events), ...refusedHosts(events)],
    egress: foldEgress(allOf(events, "egress")).map(wireEgress),
    runs_elsewhere: runsElsewhere(events),
    quarantined: inQuarantine(events).map(({ path, kept }) => ({ path, kept })),
    structured_output: summary.answer && "value" in summary.answer ? summary.answer.value : null,
    errors: subtype === "success" ? [] : [unfit ?? why(subtype, events)],
    terminal_reason: unfit ? "schema" : (end?.reason ?? "error"),
    ...(end && isLimit(end.reason) ? { limit: end.reason } : {}),
    changed_files: changedFiles(events),
    resume: `sawtooth -p -r ${sessionId} "continue"`,
    context: contextTotals(events),
  };
}

/** Returns the same object for a run without a session: it could not start, or there was nothing to do. */
export function sessionlessResult(summary: {
  durationMs: number;
  reason: string;
  subtype?: Subtype;
  error?: string;
}) {
  const { durationMs, reason, error } = summary;
  return {
    type: "result",
    subtype: summary.subtype ?? (error === undefined ? "success" : "error_during_execution"),
    is_error: error !== undefined,
    result: "",
    session_id: null,
    num_turns: 0,
    duration_ms: durationMs,
    duration_api_ms: 0,
    total_cost_usd: 0,
    usage: wireUsage(noUsage),
    modelUsage: {},
    permission_denials: [],
    egress: [],
    runs_elsewhere: [],
    quarantined: [],
    structured_output: null,
    errors: error === undefined ? [] : [error],
    terminal_reason: reason,
    changed_files: [],
    resume: null,
    context: null,
  };
}

/** Names token counts as the Messages API does. */
export function wireUsage(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
    output_tokens: usage.outputTokens,
    ...(usage.webSearches ? { server_tool_use: { web_search_requests: usage.webSearches } } : {}),
  };
}

function usageByModel(events: readonly LogEvent[]) {
  const totals: Record<string, { usage: Usage; cost: number }> = {};
  let model = started(events).model;
  for (const event of events) {
    if (event.type === "model_changed") model = event.model;
    if (!isModelCall(event)) continue;
    const { id, prices } = cardOf(event) ?? model;
    const total = totals[id] ?? { usage: noUsage, cost: 0 };
    totals[id] = {
      usage: addUsage(total.usage, event.usage),
      cost: total.cost + costOf(event.usage, prices),
    };
  }
  return Object.fromEntries(
    Object.entries(totals).map(([id, { usage, cost }]) => [id, { ...wireUsage(usage), cost_usd: cost }]),
  );
}

/** Returns the totals of `sawtooth report`; tokens are input tokens, shares go from 0 to 1. */
function contextTotals(events: readonly LogEvent[]) {
  const { size, soft, next, deferredTokens, edits, elongation, cache, estimate } = contextFigures(events);
  const policies = editsByPolicy(edits);
  return {
    peak_tokens: size.peak,
    mean_tokens: size.mean,
    last_tokens: size.last,
    next_tokens: next,
    soft_window_tokens: soft.tokens,
    soft_window_source: soft.source,
    edits: edits.length,
    edits_by_policy: Object.fromEntries(policies.map(({ policy, edits }) => [policy, edits])),
    folds: allOf(events, "context_edited").filter(({ fold }) => fold !== undefined).length,
    removed_tokens: policies.reduce((sum, { removed }) => sum + removed, 0),
    deferred_tokens: deferredTokens,
    worth_usd: policies.reduce((sum, { worth }) => sum + worth, 0),
    elongated_edits: elongation.longer,
    cache_hit_rate: cache.hitRate,
    cache_misses: cache.misses,
    estimate_error_median: estimate.median,
    estimate_error_p95: estimate.p95,
    tool_calls: allOf(events, "assistant_message").reduce(
      (sum, event) => sum + event.content.filter(isToolUse).length,
      0,
    ),
  };
}
