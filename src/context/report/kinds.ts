/** The kinds of content in a context: every token belongs to one. Pure. */

import type { Block } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { memoizeBy, memoizedReduce } from "../../core/memoize.ts";
import { eventAt, started } from "../../core/questions.ts";
import { blockTokens, textTokens } from "../view/tokens.ts";
import type { Entry } from "../view/view.ts";

/** Roughly in the order of a request. */
export const kinds = [
  "system",
  "tools",
  "instructions",
  "user",
  "reasoning",
  "actions",
  "observations",
  "knowledge",
  "reminders",
] as const;

/** `instructions`: the preamble of user messages, and what was read of instruction files; `knowledge`: replacements of folded or summarised steps. */
export type Kind = (typeof kinds)[number];

/** A part of the context: one block, or (with seq -1) the system text or the tools. Tokens are uncalibrated. */
export type Part = { kind: Kind; tokens: number; seq: number; block: number };

type PartsReader = { fixed: readonly Part[]; partsOf(entry: Entry): readonly Part[] };

/** Splits views of this log into parts: `fixed` come before all entries, an entry's in request order. */
export const partsReader: (events: readonly LogEvent[]) => PartsReader = memoizeBy((events) => {
  const { system, tools } = started(events);
  const fixed: Part[] = [
    { kind: "tools", tokens: textTokens(JSON.stringify(tools)), seq: -1, block: 0 },
    { kind: "system", tokens: textTokens(system), seq: -1, block: 1 },
  ];
  // Keyed by an entry's blocks, because an edit replaces them.
  const known = new WeakMap<Block[], Part[]>();
  const partsOf = (entry: Entry): readonly Part[] => {
    const parts =
      known.get(entry.blocks) ?? partsOfEntry(entry, eventAt(events, entry.seq), foldedTexts(events));
    known.set(entry.blocks, parts);
    return parts;
  };
  return { fixed, partsOf };
});

/** The texts that collapses put in the place of events, each with its kind: lines of calls are what they stand for. */
const foldedTexts = memoizedReduce<Map<string, Kind>>(
  () => new Map(),
  (texts, event) => {
    if (event.type === "context_edited")
      for (const edit of event.edits)
        if (edit.type === "collapse") texts.set(edit.text, edit.lines ? "actions" : "knowledge");
    return texts;
  },
);

function partsOfEntry(entry: Entry, event: LogEvent | undefined, folded: ReadonlyMap<string, Kind>): Part[] {
  return entry.blocks.map((block, index) => ({
    kind: kindIn(entry, index) ?? kindOf(block, index, event, folded),
    tokens: blockTokens(block),
    seq: entry.seq,
    block: index,
  }));
}

/** The kind that the entry itself says, whatever the block is. */
function kindIn({ knowledge, standing }: Entry, index: number): Kind | undefined {
  return index === knowledge ? "knowledge" : standing ? "instructions" : undefined;
}

function kindOf(
  block: Block,
  index: number,
  event: LogEvent | undefined,
  folded: ReadonlyMap<string, Kind>,
): Kind {
  switch (block.type) {
    case "thinking":
    case "redacted_thinking":
      return "reasoning";
    case "tool_use":
    case "server_tool_use":
      return "actions";
    case "web_search_tool_result":
      return "observations";
    case "tool_result":
      return (typeof block.content === "string" && folded.get(block.content)) || "observations";
    case "image":
      return "user";
    case "tool_removal":
    case "tool_addition":
      return "reminders";
    case "text":
      return folded.get(block.text) ?? textKind(index, event);
  }
}

function textKind(index: number, event: LogEvent | undefined): Kind {
  if (event?.type === "assistant_message") return "actions";
  if (event?.type === "reminder") return "reminders";
  return event?.type === "user_message" && index < (event.preamble?.length ?? 0) ? "instructions" : "user";
}

/** Sums tokens by kind, times `factor`; every kind has an entry. */
export function sumByKind(parts: readonly Part[], factor = 1): Record<Kind, number> {
  const sums = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  for (const { kind, tokens } of parts) sums[kind] += tokens * factor;
  return sums;
}
