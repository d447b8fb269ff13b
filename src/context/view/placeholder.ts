/** The one line that stands for a forgotten observation (context-engine §3). Pure and deterministic. */

import { resultText } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { memoizeBy } from "../../core/memoize.ts";
import { started } from "../../core/questions.ts";
import { exitLine } from "../../core/text/truncate-output.ts";

/** Varied, so that the model does not fall into a rhythm of identical pairs; chosen by seq, so byte-stable. */
const words = ["omitted", "left out", "not shown", "put aside", "dropped"];

/** `[214 lines omitted: exit 1, "AssertionError: 3 != 4" — artifacts/000123.txt]` */
export function placeholder(event: EventOf<"tool_result">, events: readonly LogEvent[]): string {
  return `[${gist(event)} — ${whereabouts(event, events)}]`;
}

/** The part before the pointer, made once: every step of a long session asks for it. */
const gist = memoizeBy((event: EventOf<"tool_result">): string => {
  const text = resultText(event.content);
  const lines = event.stats?.lines ?? text.split("\n").length;
  const size = `${lines} ${lines === 1 ? "line" : "lines"} ${words[event.seq % words.length]}`;
  const failure = failureOf(event, text);
  return `${size}${failure ? `: ${failure}` : ""}`;
});

/** The last line of an output that speaks of what went wrong, else its last one; at most 200 characters. */
export function symptomOf(text: string, exitCode: number | undefined): string {
  const status = exitCode === undefined ? undefined : exitLine(exitCode);
  const lines = text.split("\n").filter((line) => line.trim() !== "" && line !== status);
  const informative = lines.findLast((line) =>
    /error|fail|exception|assert|denied|not found|panic/i.test(line),
  );
  return (informative ?? lines.at(-1) ?? "").trim().slice(0, 200).toWellFormed();
}

/** Failure stays visible: exit status and symptom; undefined when the call did not fail. */
export function failureOf(event: EventOf<"tool_result">, text: string): string | undefined {
  const status = event.stats?.exitCode;
  if (!event.isError && !status) return undefined;
  const line = symptomOf(text, status);
  return [status === undefined ? "failed" : `exit ${status}`, line === "" ? "" : JSON.stringify(line)]
    .filter(Boolean)
    .join(", ");
}

/** Where the whole stands: its artifact, the file it was read from, or its line of the log. */
export function whereabouts(event: EventOf<"tool_result">, events: readonly LogEvent[]): string {
  const source = event.artifact ?? event.stats?.read?.[0];
  return source ?? `line ${event.seq + 1} of ${started(events).folder}/events.jsonl`;
}
