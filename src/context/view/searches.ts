/** Keeps searches of a provider's server whole where their call and result stand in two replies. Pure. */

import { type Block, isToolUse } from "../../core/blocks.ts";
import { memoizeBy } from "../../core/memoize.ts";
import { withoutSearches } from "../../core/text/search-text.ts";
import type { Entry } from "./view.ts";

/** A reply's neighbours: the reply before it, what was said after it, and the reply after that. */
type Around = { before: Entry | undefined; following: readonly Entry[]; after: Entry | undefined };

/**
 * A reply as the API takes it back. A search that waits for its result may stand last, or beside calls that were
 * answered: then the API goes on with it. Where no result came it is left out; where only the result is in the view it
 * becomes words.
 */
export function withWholeSearches(reply: Entry, { before, following, after }: Around): Entry {
  const { waiting, earlier } = apart(reply.blocks);
  if (waiting.length + earlier.length === 0) return reply;
  const asked = before ? apart(before.blocks).waiting : [];
  if (earlier.some((id) => !asked.includes(id))) return { ...reply, blocks: withoutSearches(reply.blocks) };
  const goesOn = !after && (following.length === 0 || reply.blocks.some(isToolUse));
  const answered = after ? apart(after.blocks).earlier : [];
  const lost = goesOn ? [] : waiting.filter((id) => !answered.includes(id));
  return lost.length === 0 ? reply : { ...reply, blocks: without(reply.blocks, lost) };
}

function without(blocks: readonly Block[], ids: readonly string[]): Block[] {
  return blocks.filter((block) => block.type !== "server_tool_use" || !ids.includes(block.id));
}

/** Ids of searches without a result in the same reply, and of results whose search stands in an earlier one. */
const apart = memoizeBy((blocks: readonly Block[]): { waiting: string[]; earlier: string[] } => {
  const asked = blocks.flatMap((block) => (block.type === "server_tool_use" ? [block.id] : []));
  const found = blocks.flatMap((block) =>
    block.type === "web_search_tool_result" ? [block.tool_use_id] : [],
  );
  return {
    waiting: asked.filter((id) => !found.includes(id)),
    earlier: found.filter((id) => !asked.includes(id)),
  };
});
