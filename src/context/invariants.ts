/** The rules of a valid request (context-engine §9), stated once and checked before every send. Pure. */

import { type Block, isToolUse, type Message } from "../core/blocks.ts";
import type { ModelRequest } from "../core/request.ts";

/** One sentence per broken rule; a request with any must not be sent. */
export function brokenRules(request: ModelRequest, maxBreakpoints = 4): string[] {
  const { messages } = request;
  const broken: string[] = [];
  if (messages[0]?.role !== "user") broken.push("the first message is not the user's");
  if (messages.at(-1)?.role === "assistant") broken.push("the last message is the assistant's (prefill)");
  if (request.cacheAfter.length > maxBreakpoints)
    broken.push(`more than ${maxBreakpoints} cache breakpoints`);
  messages.forEach((message, index) => {
    const previous = messages[index - 1];
    broken.push(...contentRules(message).map((rule) => `messages.${index}: ${rule}`));
    broken.push(...orderRules(message, previous).map((rule) => `messages.${index}: ${rule}`));
  });
  return broken;
}

function contentRules(message: Message): string[] {
  const broken: string[] = [];
  if (message.content.length === 0) broken.push("no content");
  for (const block of message.content) {
    const inside = block.type === "tool_result" && typeof block.content !== "string" ? block.content : [];
    for (const each of [block, ...inside])
      if (each.type === "text" && each.text.trim() === "") broken.push("empty text block");
    if (!isWellFormed(block)) broken.push(`${block.type} is not valid Unicode`);
  }
  return broken;
}

function orderRules(message: Message, previous: Message | undefined): string[] {
  const calls =
    previous?.role === "assistant" ? previous.content.filter(isToolUse).map((block) => block.id) : [];
  const results = message.content.flatMap((block) =>
    block.type === "tool_result" ? [block.tool_use_id] : [],
  );
  const broken: string[] = [];
  if (message.role !== "system" && message.role === previous?.role)
    broken.push(`two ${message.role} messages in a row`);
  if (message.role === "system" && previous?.role === "assistant")
    broken.push("system message after a reply");
  if (message.role === "user" && previous?.role === "system")
    broken.push("system message before a message of the user");
  if (calls.join() !== results.join())
    broken.push(`calls [${calls.join()}] are answered by [${results.join()}]`);
  if (message.content.slice(0, results.length).some((block) => block.type !== "tool_result"))
    broken.push("tool results are not first");
  return broken;
}

function isWellFormed(block: Block): boolean {
  switch (block.type) {
    case "text":
      return block.text.isWellFormed();
    case "tool_result":
      return typeof block.content === "string"
        ? block.content.isWellFormed()
        : block.content.every(isWellFormed);
    case "tool_use":
      // JSON spells a lone surrogate as an escape, so the escape is what gives it away.
      return !/\\ud[89a-f]/i.test(JSON.stringify(block.input));
    default:
      return true;
  }
}
