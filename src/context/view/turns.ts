/** The view as turns: one reply and the results of its calls. Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import { memoizeBy } from "../../core/memoize.ts";
import type { Entry, View } from "./view.ts";

export type ViewStep = {
  /** Index of the reply among the view's entries. */
  index: number;
  calls: ToolUseBlock[];
  /** Entries that hold the results. */
  results: Entry[];
  /** True when it moved the work on: no call failed to parse and none repeated the turn before. */
  effective: boolean;
};

/** The turns of a view that called tools, oldest first. */
export function turnsOf(entries: readonly Entry[]): ViewStep[] {
  const turns: ViewStep[] = [];
  let before = "";
  entries.forEach((entry, index) => {
    if (entry.role === "assistant") {
      const calls = entry.blocks.filter(isToolUse);
      if (calls.length === 0) return;
      const signature = calls.map(signatureOf).join("\n");
      turns.push({ index, calls, results: [], effective: signature !== before });
      before = signature;
    } else if (entry.blocks[0]?.type === "tool_result") turns.at(-1)?.results.push(entry);
  });
  for (const turn of turns)
    if (turn.results.length > 0 && turn.results.every(isParseFailure)) turn.effective = false;
  return turns;
}

/** The turns that a policy may forget of; several candidates are looked for in each. */
export const turnsIn = memoizeBy(({ view }: { view: View }): readonly ViewStep[] => turnsOf(view.entries));

/** The same call has the same signature: the tool's name and its input. */
export const signatureOf = memoizeBy(
  ({ name, input }: ToolUseBlock): string => `${name} ${JSON.stringify(input)}`,
);

/** The call itself was wrong: it did not run. */
function isParseFailure({ rejected }: Entry): boolean {
  return rejected === "unknown_tool" || rejected === "invalid_input";
}

/** Index in `turns` from which the newest `keep` effective turns begin; 0 when there are no more than that. */
export function keptFrom(turns: readonly ViewStep[], keep: number): number {
  let left = keep;
  for (let index = turns.length - 1; index >= 0; index--) {
    if (turns[index]?.effective && --left < 0) return index + 1;
  }
  return 0;
}
