/** Replaces old inputs of the editor with a pointer to the file on disk (Deep Agents). Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import { touchesOf } from "../../core/tool-calls.ts";
import { blockTokens } from "../view/tokens.ts";
import { shortenedInput } from "../view/view.ts";
import { type Candidate, editImmediately, type Policy } from "./policy.ts";
import { newestStep, type PolicyInput } from "./policy-input.ts";

/** Offloads inputs when the context passes 85 % of the soft window. */
export const offloadInputsPolicy: Policy = {
  name: "offload-inputs",
  plan(snapshot) {
    const { expected, soft, settings } = snapshot;
    if (expected < settings.inputsAt * soft.tokens) return {};
    return editImmediately(
      "offload-inputs",
      "old inputs, near the window's end",
      inputCandidates(snapshot),
      snapshot,
    );
  },
};

/** Lists inputs of writing editor calls before the newest step with enough text to be worth a pointer. */
export function inputCandidates({ view }: PolicyInput): Candidate[] {
  return view.entries.slice(0, newestStep(view)).flatMap((entry, index) =>
    entry.blocks.flatMap((block, at) => {
      if (!isToolUse(block) || touchesOf(block).kind !== "writes" || isShortened(block)) return [];
      const text = "on disk as written then; view the file for its present state";
      const removes =
        blockTokens(block) - blockTokens({ ...block, input: shortenedInput(block.input, text) });
      const edit = { type: "replace" as const, seq: entry.seq, block: at, text };
      return removes > 50 ? [{ edit, index, removes }] : [];
    }),
  );
}

function isShortened(block: ToolUseBlock): boolean {
  return typeof block.input === "object" && block.input !== null && "omitted" in block.input;
}
