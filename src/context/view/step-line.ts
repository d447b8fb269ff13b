/** Old steps in short: the model's words as they were, and a line for each call with its result. Pure. */

import { isToolUse, resultText, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { started } from "../../core/questions.ts";
import { searchesIn, searchLine, spokenText } from "../../core/text/search-text.ts";
import { withoutTags } from "../../core/text/tags.ts";
import { describeCall } from "../../core/tool-calls.ts";
import { failureOf } from "./placeholder.ts";
import { textTokens } from "./tokens.ts";

/** A reply and the results of its calls, as the log has them. */
export type LoggedStep = { reply: EventOf<"assistant_message">; results: readonly EventOf<"tool_result">[] };

/** Characters that stay of a command, or of what else a call is about. */
const subjectLength = 120;

/**
 * Returns the text that stands for consecutive steps: where the log has them in full, then the words and calls of each,
 * such as `bash npm test -> exit 1, "3 failed" · artifacts/000123.txt` or `edit src/a.ts +4 -1`.
 */
export function stepsText(steps: readonly LoggedStep[], events: readonly LogEvent[]): string {
  const { folder } = started(events);
  const [first, last] = [steps[0], steps.at(-1)];
  const from = (first?.reply.seq ?? 0) + 1;
  const to = (last?.results.at(-1)?.seq ?? last?.reply.seq ?? 0) + 1;
  const count = steps.length === 1 ? "1 earlier step" : `${steps.length} earlier steps`;
  const head = `[${count} in short; in full: lines ${from} to ${to} of ${folder}/events.jsonl]`;
  return withoutTags([head, ...steps.map((step) => shortened(step, folder).text)].join("\n"));
}

/** Estimates the tokens of a step's part of that text. Made once: every step of a long session asks for it. */
export function shortTokens(step: LoggedStep, events: readonly LogEvent[]): number {
  return shortened(step, started(events).folder).tokens;
}

type Short = { results: number; text: string; tokens: number };

const known = new WeakMap<LogEvent, Short>();

function shortened(step: LoggedStep, folder: string): Short {
  const earlier = known.get(step.reply);
  if (earlier?.results === step.results.length) return earlier;
  const text = linesOf(step, folder).join("\n");
  const made = { results: step.results.length, text, tokens: textTokens(text) + 1 };
  known.set(step.reply, made);
  return made;
}

function linesOf({ reply, results }: LoggedStep, folder: string): string[] {
  const words = spokenText(reply.content).trim();
  const said = words === "" ? [] : [words];
  const searched = searchesIn(reply.content).map(searchLine);
  const called = reply.content.filter(isToolUse).map((call) =>
    callLine(
      call,
      results.find(({ toolUseId }) => toolUseId === call.id),
      folder,
    ),
  );
  return [...said, ...searched, ...called];
}

function callLine(call: ToolUseBlock, result: EventOf<"tool_result"> | undefined, folder: string): string {
  const { verb, subject } = describeCall(call, result?.call);
  const line = subject.trim().replaceAll(/\s*\n\s*/g, " ⏎ ");
  const about = line.length > subjectLength ? `${line.slice(0, subjectLength).toWellFormed()}…` : line;
  return `${verb} ${about}${result ? outcomeOf(call, result, folder) : ""}`.trim();
}

function outcomeOf(call: ToolUseBlock, result: EventOf<"tool_result">, folder: string): string {
  const failure = failureOf(result, resultText(result.content));
  const passed = result.stats?.exitCode === 0 ? " -> exit 0" : changeOf(call);
  return `${failure ? ` -> ${failure}` : passed}${whereabouts(result, folder)}`;
}

/** The artifact, relative to the session's folder; without one the log has the output. */
function whereabouts({ artifact }: EventOf<"tool_result">, folder: string): string {
  if (artifact === undefined) return "";
  return ` · ${artifact.startsWith(`${folder}/`) ? artifact.slice(folder.length + 1) : artifact}`;
}

/** The number of lines that a call of the editor put in and took out: ` +4 -1`. */
function changeOf({ input }: ToolUseBlock): string {
  const { old_str, new_str, file_text, insert_text } = (input ?? {}) as Record<string, unknown>;
  const count = (text: unknown) => (typeof text === "string" && text !== "" ? text.split("\n").length : 0);
  const [added, removed] = [count(new_str) + count(file_text) + count(insert_text), count(old_str)];
  return added + removed === 0 ? "" : ` +${added} -${removed}`;
}
