/** Ids of calls: the API refuses a request in which two calls have the same one. Pure. */

import type { AssistantBlock } from "./blocks.ts";

/** The same reply, in which a call whose id is taken, in the session or by a call before it, has another id. */
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
