/** Saves pasted and piped text that is too long for the context to a file, and keeps its head. */

import { textTokens } from "../context/view/tokens.ts";
import type { UserBlock } from "../core/blocks.ts";
import type { Artifacts } from "../core/ports.ts";
import { headOf } from "../core/text/clean-text.ts";

const keptLines = 200;

/**
 * Returns the blocks with texts above `maxTokens` replaced by their head, up to half of that, and the path of the
 * whole.
 */
export function offloadPastes(
  content: readonly UserBlock[],
  artifacts: Artifacts,
  maxTokens: number,
): UserBlock[] {
  return content.map((block) => {
    if (block.type !== "text" || textTokens(block.text) <= maxTokens) return block;
    const file = artifacts.write("txt", block.text);
    const lines = block.text.split("\n", keptLines).join("\n");
    const head = headOf(lines, 2 * maxTokens);
    const rest = block.text.length - head.length;
    return {
      type: "text",
      text: `${head.toWellFormed()}\n[${rest} more characters: the whole text is in ${file}]`,
    };
  });
}
