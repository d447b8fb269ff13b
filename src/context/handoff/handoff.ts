/** Writes the handoff that replaces a summarised span: facts from the log, with the model's prose. Pure. */

import { resultText } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { changedFiles, findCall, openFocus, started } from "../../core/questions.ts";
import { knownTasks } from "../../core/task-list.ts";
import { withoutTags } from "../../core/text/tags.ts";
import { callLine } from "../../core/tool-calls.ts";
import { symptomOf } from "../view/placeholder.ts";
import { textTokens } from "../view/tokens.ts";
import { type Check, contradictions } from "./contradictions.ts";

/** Returns the whole handoff. `prose`: the model's verified prose; "" for a mechanical handoff. */
export function handoffText(events: readonly LogEvent[], prose: string): string {
  const { folder } = started(events);
  const tasks = knownTasks(events) ?? "";
  const check = lastCheck(events);
  const facts = sectionsOf([
    ["Open focus (still running)", openFocus(events)?.objective ?? ""],
    ["Task list (true as of now)", tasks],
    ["Files changed", filesChanged(events)],
    ["Last check", check ? `${check.command} → exit ${check.exitCode}` : ""],
    ["Failed attempts", failureLedger(events)],
  ]);
  const wrong = contradictions(prose, { tasks, ...(check ? { check: withoutTool(check) } : {}) });
  const words = sectionsOf([
    ["Knowledge", knowledge(events)],
    ["What you wrote", prose],
  ]);
  const authority = prose === "" || facts.length === 0 ? [] : [authorityOf(wrong)];
  const head = `[Handoff: earlier steps are folded into this. Full history: ${folder}/events.jsonl]`;
  return withoutTags([head, ...words, ...authority, ...facts].join("\n\n"));
}

/** Returns the line that gives the facts precedence over the prose, with the known errors. */
function authorityOf(wrong: readonly string[]): string {
  const errors = wrong.length > 0 ? ` It does: ${wrong.join("; ")}.` : "";
  return `[What follows is from the log itself. Where what you wrote says otherwise, this is right.${errors}]`;
}

function sectionsOf(sections: readonly (readonly [title: string, text: string])[]): string[] {
  return sections.flatMap(([title, text]) => (text === "" ? [] : [`## ${title}\n${text}`]));
}

const mostFiles = 200;

/** Lists changed files; only the newest when there are many. */
function filesChanged(events: readonly LogEvent[]): string {
  const paths = changedFiles(events);
  const earlier = paths.length - mostFiles;
  return [...(earlier > 0 ? [`(${earlier} earlier ones)`] : []), ...paths.slice(-mostFiles)].join("\n");
}

/** Lists the knowledge of every closed focus, so that a summary of its entry does not lose it. */
function knowledge(events: readonly LogEvent[]): string {
  return factsOf(events).folded.join("\n\n");
}

/** Texts of folds, failed results, and the newest result with an exit code. */
type Facts = { folded: string[]; failed: EventOf<"tool_result">[]; ran?: EventOf<"tool_result"> };

const factsOf = memoizedReduce<Facts>(
  () => ({ folded: [], failed: [] }),
  (facts, event) => {
    if (event.type === "context_edited" && event.policy === "focus")
      for (const edit of event.edits) if (edit.type === "collapse") facts.folded.push(edit.text);
    if (event.type === "tool_result" && event.isError) facts.failed.push(event);
    if (event.type === "tool_result" && event.stats?.exitCode !== undefined) facts.ran = event;
    return facts;
  },
);

/** Returns the newest command that ran and its exit code. */
function lastCheck(events: readonly LogEvent[]): Check | undefined {
  const { ran } = factsOf(events);
  if (ran?.stats?.exitCode === undefined) return undefined;
  return { command: commandOf(events, ran), exitCode: ran.stats.exitCode };
}

/** Drops the tool's name from a command, as a model would write it. */
function withoutTool({ command, exitCode }: Check): Check {
  return { command: command.replace(/^\w+: /, ""), exitCode };
}

const ledgerTokens = 1_000;

/** Lists failed attempts, newest last, within 1,000 tokens. */
function failureLedger(events: readonly LogEvent[]): string {
  const lines: string[] = [];
  let left = ledgerTokens;
  const { failed } = factsOf(events);
  for (let index = failed.length - 1; index >= 0; index--) {
    const event = failed[index] as (typeof failed)[number];
    const line = `- ${commandOf(events, event)} → ${symptomOf(resultText(event.content), event.stats?.exitCode)}`;
    if (lines.includes(line)) continue;
    left -= textTokens(line);
    if (left < 0) break;
    lines.unshift(line);
  }
  return lines.join("\n");
}

/** Describes a call in one line: the tool and its subject. */
export function commandOf(events: readonly LogEvent[], event: EventOf<"tool_result">): string {
  return callLine(findCall(events, event.toolUseId) ?? { name: event.toolName, input: {} }, 200);
}
