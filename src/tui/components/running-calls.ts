/** The running calls, with the end of each one's output. */

import { createElement as h, type ReactNode } from "react";
import { plural } from "../../context/report/amounts.ts";
import type { ToolUseBlock } from "../../core/blocks.ts";
import type { CallFacts } from "../../core/tool-calls.ts";
import { callRow, type RowContext } from "../blocks/tool-rows.ts";
import { Line, RowLine, Span } from "./text.ts";

export type ShownCall = {
  call: ToolUseBlock;
  /** Facts of a call whose tool core does not know. */
  facts?: CallFacts | undefined;
  elapsed: string;
  output: readonly string[];
};
/** Props. `more`: number of calls for which there is no room. */
export type RunningCallsProps = { calls: readonly ShownCall[]; more: number; context: RowContext };

export function runningCallsHeight({ calls, more }: RunningCallsProps): number {
  return calls.reduce((sum, { output }) => sum + 1 + output.length, more > 0 ? 1 : 0);
}

export function RunningCalls({ calls, more, context }: RunningCallsProps): ReactNode {
  return [
    ...calls.map((running, index) =>
      h(Call, { key: running.call.id, ...running, first: index === 0, context }),
    ),
    more > 0 && h(Line, { key: "more" }, h(Span, { tone: "dim" }, `    … ${plural(more, "more call")}`)),
  ];
}

/** One call. Its title is the row of a finished call except for the mark, so it keeps its look in the scrollback. */
function Call({
  call,
  facts,
  elapsed,
  output,
  first,
  context,
}: ShownCall & { first: boolean; context: RowContext }): ReactNode {
  return [
    h(RowLine, {
      key: "title",
      row: callRow({ text: first ? "●" : "○", tone: "accent" }, call, elapsed, context, facts),
    }),
    ...output.map((line, index) => h(Line, { key: index }, h(Span, { tone: "dim" }, `    ${line}`))),
  ];
}
