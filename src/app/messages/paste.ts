/**
 * Prepares what a person says: attaches pictures, and saves pasted and piped text that is too long for the context to a
 * file, with its head kept.
 */

import { pasteLimit } from "../../context/policies/budget.ts";
import { textTokens } from "../../context/view/tokens.ts";
import type { UserBlock } from "../../core/blocks.ts";
import type { UserMessage } from "../../core/events.ts";
import type { Artifacts } from "../../core/ports.ts";
import { headOf } from "../../core/text/clean-text.ts";
import { showHidden } from "../../core/text/hidden-characters.ts";
import type { OpenSession } from "../../session/store.ts";
import type { PictureSource } from "./pictures.ts";

const keptLines = 200;

/**
 * Returns the blocks with texts above `maxTokens` replaced by their head, up to half of that, and the path of the
 * whole.
 */
function offloadPastes(content: readonly UserBlock[], artifacts: Artifacts, maxTokens: number): UserBlock[] {
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

/** Adds the pictures that a message names with `@`. What reads them is loaded for a message that may name one. */
export async function withNamedPictures(
  content: UserBlock[],
  source: PictureSource,
  signal?: AbortSignal,
): Promise<UserBlock[]> {
  if (!content.some((block) => block.type === "text" && block.text.includes("@"))) return content;
  return (await import("./pictures.ts")).withPictures(content, source, signal);
}

/** Shows hidden characters and offloads long texts: pasted or piped text may hide as much as a file. */
export function shortened({ log, artifacts }: OpenSession, message: UserMessage): UserMessage {
  const shown = message.content.map((block) =>
    block.type === "text" ? { ...block, text: showHidden(block.text) } : block,
  );
  return { ...message, content: offloadPastes(shown, artifacts, pasteLimit(log.events())) };
}
