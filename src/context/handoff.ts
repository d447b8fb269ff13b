/** The text that stands for a summarised span: facts from the log, and the model's prose between them. Pure. */

import { isToolUse, resultText } from "../core/blocks.ts";
import type { EventOf, LogEvent } from "../core/events.ts";
import { allOf, changedFiles, findCall, started } from "../core/questions.ts";
import { knownTasks } from "../core/task-list.ts";
import { textTokens } from "./tokens.ts";

/** The whole handoff. `prose`: what the model wrote, verified; "" leaves the mechanical part alone. */
export function handoffText(events: readonly LogEvent[], prose: string): string {
  const { folder } = started(events);
  const sections = [
    ["Knowledge", knowledge(events)],
    ["What you wrote", prose],
    ["Task list (true as of now)", knownTasks(events) ?? ""],
    ["Files changed", changedFiles(events).join("\n")],
    ["Last check", lastCheck(events)],
    ["Failed attempts", failureLedger(events)],
  ].filter(([, text]) => text !== "");
  const body = sections.map(([title, text]) => `## ${title}\n${text}`).join("\n\n");
  return `[Handoff: earlier steps are folded into this. Full history: ${folder}/events.jsonl]\n\n${body}`;
}

/** Every closed focus of the session, so that none is lost when a summary takes its entry. */
function knowledge(events: readonly LogEvent[]): string {
  return allOf(events, "context_edited")
    .filter((event) => event.policy === "focus")
    .flatMap((event) => event.edits.flatMap((edit) => (edit.type === "collapse" ? [edit.text] : [])))
    .join("\n\n");
}

/** The newest command that ran, and how it ended. */
function lastCheck(events: readonly LogEvent[]): string {
  const ran = allOf(events, "tool_result").findLast((event) => event.stats?.exitCode !== undefined);
  return ran ? `${commandOf(events, ran)} → exit ${ran.stats?.exitCode}` : "";
}

const ledgerTokens = 1_000;

/** What was tried and failed, newest last, within 1,000 tokens. */
function failureLedger(events: readonly LogEvent[]): string {
  const lines: string[] = [];
  let left = ledgerTokens;
  for (const event of allOf(events, "tool_result").reverse()) {
    if (!event.isError) continue;
    const symptom = resultText(event.content).trim().split("\n").at(-1)?.slice(0, 200).toWellFormed() ?? "";
    const line = `- ${commandOf(events, event)} → ${symptom}`;
    if (lines.includes(line)) continue;
    left -= textTokens(line);
    if (left < 0) break;
    lines.unshift(line);
  }
  return lines.join("\n");
}

function commandOf(events: readonly LogEvent[], event: EventOf<"tool_result">): string {
  const input = (findCall(events, event.toolUseId)?.input ?? {}) as Record<string, unknown>;
  const subject = [input.command, input.path].filter((part) => typeof part === "string").join(" ");
  return `${event.toolName}: ${(subject || event.toolName).split("\n")[0]?.slice(0, 200).toWellFormed()}`;
}

/** Why a model's prose cannot be used, or undefined when it can. `replaced`: tokens of what it stands for. */
export function rejectProse(
  reply: Pick<EventOf<"assistant_message">, "content" | "stopReason">,
  replaced: number,
  events: readonly LogEvent[],
): string | undefined {
  const prose = proseOf(reply.content);
  if (reply.content.some(isToolUse)) return "it called a tool";
  if (prose === "") return "it was empty";
  if (reply.stopReason === "max_tokens") return "it was cut off by its length";
  if (textTokens(prose) > 0.75 * replaced)
    return "it was not at least a quarter shorter than what it replaces";
  const unknown = unknownPaths(prose, events);
  return unknown.length > 0
    ? `it names paths that never occurred: ${unknown.slice(0, 3).join(", ")}`
    : undefined;
}

export function proseOf(content: EventOf<"assistant_message">["content"]): string {
  return content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

/** Absolute paths in the prose that stand nowhere in the log. */
function unknownPaths(prose: string, events: readonly LogEvent[]): string[] {
  const named = new Set(prose.match(/(?<![\w./~-])\/[\w.@-]+(?:\/[\w.@-]+)+/g) ?? []);
  if (named.size === 0) return [];
  const known = events.map((event) => JSON.stringify(event)).join("\n");
  return [...named].filter((path) => !known.includes(path.replace(/[.,]+$/, "")));
}
