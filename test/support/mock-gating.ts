/** Changes of the tools in the middle of a conversation: what is offered at its end, and what may not be said. */

import { checkFields, checkOneOf } from "./mock-fields.ts";
import { RefusedError, type WireBlock, type WireBody } from "./mock-wire.ts";

/** The tools that the model can call at the end. Throws `RefusedError` for a change that changes nothing or no tool. */
export function offeredTools({ tools, messages }: Pick<WireBody, "tools" | "messages">): ReadonlySet<string> {
  const offered = new Set(tools.flatMap(({ name, defer_loading }) => (defer_loading ? [] : [name])));
  const declared = new Set(tools.map(({ name }) => name));
  for (const [index, { content }] of messages.entries()) {
    for (const [at, block] of content.entries())
      if (block.type === "tool_addition" || block.type === "tool_removal")
        change(offered, declared, block, `messages.${index}.content.${at}`);
  }
  return offered;
}

/**
 * The words that the API adds to a prompt whose tools may change: they stand from the first request on where a deferred
 * tool does, else from the first change on, which then misses all that was cached.
 */
export function wordsOnChanges({ tools, messages }: Pick<WireBody, "tools" | "messages">): string {
  const isChange = ({ type }: WireBlock) => type === "tool_addition" || type === "tool_removal";
  const changed = messages.some(({ content }) => content.some(isChange));
  return changed || tools.some((tool) => tool.defer_loading) ? "tools may change" : "";
}

function change(offered: Set<string>, declared: ReadonlySet<string>, block: WireBlock, path: string): void {
  const tool = checkFields(block.tool, `${path}.tool`, { type: "string!", name: "string!" });
  checkOneOf(tool.type, `${path}.tool.type`, ["tool_reference"]);
  const name = String(tool.name);
  if (!declared.has(name)) throw new RefusedError(`${path}.tool.name: no tool ${name} is declared in tools`);
  const adds = block.type === "tool_addition";
  // The vendor refuses to add what is offered; that it refuses to remove what is not is our stricter reading.
  if (adds === offered.has(name))
    throw new RefusedError(`${path}: the tool ${name} is ${adds ? "already" : "not"} offered at this point`);
  if (adds) offered.add(name);
  else offered.delete(name);
}
