/** Pasted and piped text that is too long for the context goes to a file; its head stays. */

import type { UserBlock } from "../core/blocks.ts";
import type { Artifacts } from "../core/ports.ts";

/** 20,000 tokens (context-engine §3, `offload`). */
const maxCharacters = 80_000;
const keptLines = 200;

/** The same blocks, long texts replaced by their head and the path of the whole. */
export function offloadPastes(content: readonly UserBlock[], artifacts: Artifacts): UserBlock[] {
  return content.map((block) => {
    if (block.type !== "text" || block.text.length <= maxCharacters) return block;
    const file = artifacts.write("txt", block.text);
    const head = block.text
      .split("\n", keptLines)
      .join("\n")
      .slice(0, maxCharacters / 2);
    const rest = block.text.length - head.length;
    return {
      type: "text",
      text: `${head.toWellFormed()}\n[${rest} more characters: the whole text is in ${file}]`,
    };
  });
}
