/**
 * Measures what observations were good for: a use is a later reply that quotes a line whose newest holder is that
 * observation, and which the model has not written itself since. Pure, linear in the text.
 */

import { isToolUse, resultText, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { blockTokens, textTokens } from "../view/tokens.ts";
import { type Observed, recordedKind } from "./kind.ts";
import { type LineTable, lineTable, writtenIn } from "./lines.ts";

/** A result of a call that ran, with its uses until now. */
export type Observation = Observed & {
  /** The event of the result. */
  seq: number;
  call: ToolUseBlock;
  /** Replies before it: its call is in the reply with this number, from 1. */
  step: number;
  /** Estimated, uncalibrated. */
  tokens: number;
  /** Ages in replies at which it was used, rising; the first reply after it sees it at age 1. */
  uses: number[];
  isError: boolean;
};

export type ReuseReader = {
  take(event: LogEvent): void;
  /** Oldest first; the newest ones' uses grow. */
  observations: readonly Observation[];
  /** Replies so far. */
  steps(): number;
};

/** Reads a log event by event. `table`: lines of another reader of the same recording. */
export function reuseReader(table: LineTable = lineTable()): ReuseReader {
  const observations: Observation[] = [];
  const calls = new Map<string, ToolUseBlock>();
  /** For each line the observation that holds it newest; undefined where a person or the model wrote it since. */
  const holders = new Map<number, Observation | undefined>();
  let steps = 0;
  const wrote = (texts: readonly string[]): void => {
    for (const text of texts)
      for (const line of table.linesOf(text)) if (holders.get(line)) holders.set(line, undefined);
  };
  const answered = ({ content }: EventOf<"assistant_message">): void => {
    steps += 1;
    const texts = writtenIn(content);
    for (const text of texts) {
      for (const line of table.linesOf(text)) {
        const holder = holders.get(line);
        if (holder && holder.uses.at(-1) !== steps - holder.step) holder.uses.push(steps - holder.step);
      }
    }
    wrote(texts);
    for (const call of content.filter(isToolUse)) calls.set(call.id, call);
  };
  const take = (event: LogEvent): void => {
    if (event.type === "assistant_message") answered(event);
    else if (event.type === "user_message")
      wrote(event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
    else if (event.type === "tool_result") {
      const call = calls.get(event.toolUseId);
      if (!call || event.rejected) return;
      const observation = made(event, call, steps);
      observations.push(observation);
      for (const line of table.linesOf(resultText(event.content))) holders.set(line, observation);
    }
  };
  return { take, observations, steps: () => steps };
}

function made(event: EventOf<"tool_result">, call: ToolUseBlock, step: number): Observation {
  const { seq, content, isError } = event;
  const tokens =
    typeof content === "string"
      ? textTokens(content)
      : content.reduce((sum, block) => sum + blockTokens(block), 0);
  return { ...recordedKind(call, event), seq, call, step, tokens, uses: [], isError };
}
