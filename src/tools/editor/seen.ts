/** Records what the model has seen of the files, so that changes by others are noticed. Compares content, not times. */

import { isToolUse, resultText } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { withLf } from "./text/line-endings.ts";
import { occurrences } from "./text/match.ts";
import type { TextFile } from "./text/text-file.ts";

/** A view that was shown in full: its range and its call. */
export type Viewing = { range: string; toolUseId: string };
export type Seen = {
  hash: string;
  /** Text with LF; undefined when too large to keep. */
  text: string | undefined;
  /** False when only edits have touched it. */
  viewed: boolean;
  views: Viewing[];
  /** Number of events in the log at that time. */
  at: number;
};
/** Seen files by real path, for one process: files shown by an earlier process count as unseen. */
export type Memory = Map<string, Seen>;

const maxKept = 1_000_000;

/** Records that the model now knows this state of the file. Views of another state are forgotten. */
export function remember(memory: Memory, file: TextFile, at: number, viewed: boolean): Seen {
  const known = memory.get(file.path);
  const text = file.text.length > maxKept ? undefined : withLf(file.text, file.endings);
  const views = known?.hash === file.hash ? known.views : [];
  const seen = { hash: file.hash, text, viewed: viewed || (known?.viewed ?? false), views, at };
  memory.set(file.path, seen);
  return seen;
}

/** Returns true when the result of this call still stands unchanged in the conversation. */
export function isStillThere(events: readonly LogEvent[], toolUseId: string): boolean {
  const result = events.findLast((event) => event.type === "tool_result" && event.toolUseId === toolUseId);
  if (!result) return false;
  return !events.some(
    (event) =>
      event.type === "context_edited" &&
      event.edits.some(
        (edit) =>
          (edit.type === "replace" && edit.seq === result.seq) ||
          (edit.type === "collapse" && edit.from <= result.seq && result.seq <= edit.to),
      ),
  );
}

/**
 * Finds where the model saw `old`, when the lines there have changed: an offset in the text it saw, or undefined. Text
 * that it never saw, or has since seen through another tool, is not stale. All texts with LF.
 */
export function staleOffset(
  seen: Seen,
  now: string,
  old: string,
  events: readonly LogEvent[],
): number | undefined {
  const before = seen.text;
  if (before === undefined) return undefined;
  const known = occurrences(before, old, true);
  const excerpts = known.map((at) => excerptAt(before, at, old.length));
  const found = occurrences(now, old, true).map((at) => excerptAt(now, at, old.length));
  const matches = found.every(
    ({ lines, above, below }) =>
      excerpts.some(
        (excerpt) => excerpt.lines === lines && (excerpt.above === above || excerpt.below === below),
      ) || wasShown(events.slice(seen.at), lines),
  );
  return matches && found.length > 0 ? undefined : known[0];
}

type Excerpt = { lines: string; above: string; below: string };

/** Returns the whole lines that a match touches, and their neighbours. */
function excerptAt(text: string, at: number, length: number): Excerpt {
  const from = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", Math.max(from, at + length - 1));
  const to = end < 0 ? text.length : end;
  const next = text.indexOf("\n", to + 1);
  return {
    lines: text.slice(from, to),
    above: from === 0 ? "" : text.slice(text.lastIndexOf("\n", from - 2) + 1, from - 1),
    below: text.slice(to + 1, next < 0 ? text.length : next),
  };
}

function wasShown(events: readonly LogEvent[], lines: string): boolean {
  return (
    lines.trim().length > 3 &&
    events.some(
      (event) =>
        event.type === "tool_result" &&
        event.toolName !== toolNames.editor &&
        resultText(event.content).includes(lines),
    )
  );
}

/** Counts how often exactly this call has failed before. */
export function failuresOf(events: readonly LogEvent[], input: unknown): number {
  const wanted = JSON.stringify(input);
  const same = new Set<string>();
  for (const event of events) {
    if (event.type !== "assistant_message") continue;
    for (const call of event.content.filter(isToolUse)) {
      if (call.name === toolNames.editor && JSON.stringify(call.input) === wanted) same.add(call.id);
    }
  }
  return events.filter((event) => event.type === "tool_result" && event.isError && same.has(event.toolUseId))
    .length;
}
