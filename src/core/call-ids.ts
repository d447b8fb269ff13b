/** Keeps the ids of calls unique: the API refuses a request in which two calls share one. Pure. */

import type { AssistantBlock } from "./blocks.ts";

/** Returns the reply with a new id for each call whose id an earlier call of the session already has. */
export function withOwnIds(
  content: readonly AssistantBlock[],
  isTaken: (id: string) => boolean,
): AssistantBlock[] {
  const given = new Set<string>();
  return content.map((block) => {
    if (block.type !== "tool_use") return block;
    let id = block.id;
    for (let number = 2; given.has(id) || isTaken(id); number++) id = `${block.id}_${number}`;
    given.add(id);
    return id === block.id ? block : { ...block, id };
  });
}
