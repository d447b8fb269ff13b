/**
 * The eight rules (context-engine §9). Here: what one request must be like by itself (1, 2, 8). In invariants-chain.ts:
 * what it must be like after the one before (3, 4, 7, 8), and what an edit may touch (5, 6).
 *
 * 1. Every call has an id of its own and exactly one result, in the next message, in the same order.
 * 2. Roles and the first message are legal; no empty text; valid Unicode.
 * 3. Prefix-bound: thinking before the earliest change is unchanged; at or after it, it is gone for good.
 * 4. No request exceeds the window.
 * 5. Nothing leaves the view before it is in the log.
 * 6. No edit touches the person's words or the newest step.
 * 7. Up to its last breakpoint a request is a byte prefix of the next, unless the context was edited between them.
 * 8. At most four breakpoints, in order, long lives before short ones, none further than the look-back from what is
 *    written.
 *
 * All are checked before every send and in every replay. Pure.
 */

import { type Block, isSearch, isThinking, isToolUse, type Message } from "../../core/blocks.ts";
import type { RuleNumber } from "../../core/events.ts";
import type { ModelRequest } from "../../core/request.ts";

/** A broken rule. */
export type Violation = {
  rule: RuleNumber;
  /** Where: `messages.3`, `messages.3.content.1`, or the event that an edit is in; "" for the request as a whole. */
  at: string;
  /** For people. */
  text: string;
  /** The API would refuse the request; else it only costs money, or is done already. */
  refusedByApi: boolean;
  /** `breakpoint`: a cache breakpoint stands where none may; `lookback`: what was written is out of its reach. */
  kind?: "breakpoint" | "lookback";
};

/** A violation in one line: `rule 1: messages.3: calls [a] are answered by []`. */
export function violationText({ rule, at, text }: Violation): string {
  return `rule ${rule}: ${at ? `${at}: ` : ""}${text}`;
}

/**
 * The rules that this request breaks by itself. Messages before the index `from` were found good in the request before
 * and are not looked at again.
 */
export function brokenRules(request: ModelRequest, maxBreakpoints = 4, from = 0): Violation[] {
  const { messages } = request;
  const broken: Violation[] = [];
  const add = (rule: 1 | 2, at: number, text: string): number =>
    broken.push({ rule, at: `messages.${at}`, text, refusedByApi: true });
  if (messages[0]?.role !== "user") add(2, 0, "the first message is not the user's");
  if (messages.at(-1)?.role === "assistant" && !isPausedSearch(messages.at(-1)?.content.at(-1)))
    add(2, messages.length - 1, "the last message is the assistant's (prefill)");
  messages.slice(from).forEach((message, offset) => {
    const index = from + offset;
    const previous = messages[index - 1];
    for (const text of pairRules(message, previous)) add(1, index, text);
    for (const text of searchRules(messages, index)) add(1, index, text);
    for (const text of [...contentRules(message), ...orderRules(message, previous)]) add(2, index, text);
  });
  const points = pointRules(request, maxBreakpoints).map(
    (text): Violation => ({ rule: 8, at: "", text, refusedByApi: false, kind: "breakpoint" }),
  );
  return [...broken, ...points];
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

function pairRules(message: Message, previous: Message | undefined): string[] {
  const calls =
    previous?.role === "assistant" ? previous.content.filter(isToolUse).map((block) => block.id) : [];
  const results = message.content.flatMap((block) =>
    block.type === "tool_result" ? [block.tool_use_id] : [],
  );
  const broken: string[] = [];
  if (calls.join() !== results.join())
    broken.push(`calls [${calls.join()}] are answered by [${results.join()}]`);
  const again = calls.find((id, at) => calls.indexOf(id) < at);
  if (again !== undefined) broken.push(`two calls of one reply have the id ${again}`);
  if (message.content.slice(0, results.length).some((block) => block.type !== "tool_result"))
    broken.push("tool results are not first");
  return broken;
}

function isPausedSearch(block: Block | undefined): boolean {
  return block !== undefined && isSearch(block);
}

/**
 * A search of the provider's server has its result behind it, or at the beginning of the next reply where calls were
 * answered between; only in the newest reply it may wait for one.
 */
function searchRules(messages: readonly Message[], index: number): string[] {
  const message = messages[index];
  if (message?.role !== "assistant" || !message.content.some(isSearch)) return [];
  const isReply = ({ role }: Message) => role === "assistant";
  const after = messages.slice(index + 1).find(isReply);
  const before = messages.slice(0, index).findLast(isReply);
  const calls = message.content.some(isToolUse);
  const known = [...waitingIn(before), ...askedIn(message)];
  const strange = foundIn(message).filter((id) => !known.includes(id));
  const found = after ? foundIn(after) : [];
  const mayWait = !after && (index === messages.length - 1 || calls);
  const open = mayWait ? [] : waitingIn(message).filter((id) => !found.includes(id));
  return [
    ...strange.map((id) => `the result of ${id} stands without its search`),
    ...open.map((id) => `the search ${id} stands without its result`),
  ];
}

function askedIn(message: Message): string[] {
  return message.content.flatMap((block) => (block.type === "server_tool_use" ? [block.id] : []));
}

function foundIn(message: Message): string[] {
  return message.content.flatMap((block) =>
    block.type === "web_search_tool_result" ? [block.tool_use_id] : [],
  );
}

function waitingIn(message: Message | undefined): string[] {
  if (!message) return [];
  const found = foundIn(message);
  return askedIn(message).filter((id) => !found.includes(id));
}

function orderRules(message: Message, previous: Message | undefined): string[] {
  const broken: string[] = [];
  if (message.role !== "system" && message.role === previous?.role)
    broken.push(`two ${message.role} messages in a row`);
  if (message.role === "system" && previous?.role === "assistant")
    broken.push("system message after a reply");
  if (message.role === "user" && previous?.role === "system")
    broken.push("system message before a message of the user");
  return broken;
}

function pointRules({ cacheAfter, messages }: ModelRequest, most: number): string[] {
  const broken = cacheAfter.length > most ? [`more than ${most} cache breakpoints`] : [];
  let before = { message: -2, block: 0, ttl: "1h" };
  for (const point of cacheAfter) {
    const position = point.after === "system" ? { message: -1, block: 0 } : point;
    if (
      position.message < before.message ||
      (position.message === before.message && position.block <= before.block)
    )
      broken.push("the cache breakpoints are not in order");
    if (point.ttl === "1h" && before.ttl === "5m") broken.push("a long life stands after a short one");
    before = { message: position.message, block: position.block, ttl: point.ttl };
    if (point.after === "block" && !takesPoint(messages[point.message], point.block))
      broken.push(`no cache breakpoint can stand at messages.${point.message}.content.${point.block}`);
  }
  return broken;
}

function takesPoint(message: Message | undefined, at: number): boolean {
  const block = message?.content[at];
  return block !== undefined && !isThinking(block) && message?.clear_at === undefined;
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
    case "server_tool_use":
    case "web_search_tool_result":
    case "image":
    case "thinking":
    case "redacted_thinking":
    case "tool_removal":
    case "tool_addition":
      return true;
    default:
      return block satisfies never;
  }
}
