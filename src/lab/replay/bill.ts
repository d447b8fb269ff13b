/** The other side of a replay: bills requests by the cache, signs thinking, and refuses what an API would refuse. */

import { type Block, isThinking, type Message } from "../../core/blocks.ts";
import { inputTotal, type ModelCard, type Usage, usualLife } from "../../core/model-card.ts";
import {
  type Breakpoint,
  billRequest,
  emptyCache,
  joinsRun,
  layoutOf,
  type PromptBlock,
  type PromptLayout,
} from "../../core/prompt-cache.ts";
import type { ModelRequest } from "../../core/request.ts";

export type Bill = {
  /** Without output. */
  usage: Usage;
  /** Where it is too long, and the thinking that would be refused: found without asking the engine. */
  broken: string[];
  /** The layout of what was sent. */
  layout: PromptLayout;
};

export type Meter = {
  /** Bills a request that starts at `now` (milliseconds). */
  bill(request: ModelRequest, now: number): Bill;
  /** A signature for the next thinking block of the reply to the newest request. */
  sign(): string;
};

/** The claims of a signature: all before it but thinking, the thinking before it, and how much there was of that. */
type Claims = { prefix: string; previous: string; before: number };

/** Layouts made so far. */
type Laid = { messages: WeakMap<Message, PromptBlock[]>; blocks: WeakMap<Block, PromptBlock> };

/** One organisation's cache for one session. */
export function meter(card: ModelCard): Meter {
  const { cache: caching, history } = card.contract;
  const laid: Laid = { messages: new WeakMap(), blocks: new WeakMap() };
  const signed = new Map<string, Claims>();
  let head: PromptLayout | undefined;
  let cache = emptyCache;
  let next: Claims = { prefix: "", previous: "", before: 0 };

  const layOut = (request: ModelRequest): PromptLayout => {
    head ??= layoutOf({
      model: request.model,
      tools: request.tools,
      system: request.system ? [{ type: "text", text: request.system }] : [],
      messages: [],
    });
    return layoutWith(head, request.messages, laid);
  };

  return {
    bill(request, now) {
      const layout = layOut(request);
      const breakpoints = breakpointsOf(request, layout, card.contract);
      // An automatic cache finds every prefix by itself, so each block is a breakpoint and none is looked back from.
      const lookback = caching.kind === "automatic" ? 0 : caching.lookback;
      const billed = billRequest(
        { blocks: layout.blocks, breakpoints, minTokens: caching.minTokens, lookback, now },
        cache,
      );
      cache = billed.cache;
      const broken = sizeRules(inputTotal(billed.usage), card);
      const thoughts = walk(request.messages, layout);
      if (history === "prefix_bound") broken.push(...boundRules(thoughts.seen, signed));
      next = {
        prefix: thoughts.end,
        previous: thoughts.seen.at(-1)?.token ?? "",
        before: thoughts.seen.length,
      };
      return { usage: billed.usage, broken, layout };
    },
    sign() {
      const token = `sig${signed.size}`;
      signed.set(token, next);
      next = { ...next, previous: token, before: next.before + 1 };
      return token;
    },
  };
}

/** As `layoutOf`, but each message is laid out once in a session: a step costs as much as it adds. */
function layoutWith(head: PromptLayout, messages: readonly Message[], laid: Laid) {
  const blocks = [...head.blocks];
  const messageStarts: number[] = [];
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  for (const [index, message] of messages.entries()) {
    messageStarts.push(blocks.length);
    const cleared = message.clear_at === "next_user_message" && index < lastUser;
    const made = laid.messages.get(message) ?? layoutAlone(message, laid);
    laid.messages.set(message, made);
    for (const block of made) blocks.push(cleared ? { hash: 0, bytes: 0, joined: true } : block);
  }
  return { blocks, systemEnd: head.systemEnd, messageStarts };
}

function layoutAlone({ role, content }: Message, laid: Laid): PromptBlock[] {
  let before = "";
  return content.map((block) => {
    const made = laid.blocks.get(block) ?? blockAlone(role, block);
    laid.blocks.set(block, made);
    const joined = joinsRun(block.type, before);
    before = block.type;
    return joined ? { ...made, joined } : made;
  });
}

/** One block as the cache sees it: its length is what it costs. */
export function blockAlone(role: string, block: Block): PromptBlock {
  const layout = layoutOf({ model: "", tools: [], system: [], messages: [{ role, content: [block] }] });
  return layout.blocks[0] ?? { hash: 0, bytes: 0, joined: false };
}

function breakpointsOf(
  { cacheAfter }: ModelRequest,
  { blocks, systemEnd, messageStarts }: PromptLayout,
  contract: ModelCard["contract"],
): Breakpoint[] {
  const { kind } = contract.cache;
  if (kind === "none") return [];
  if (kind === "automatic") return blocks.map((_, block) => ({ block, ttl: usualLife(contract) }));
  return cacheAfter.flatMap((point): Breakpoint[] => {
    if (point.after === "system") return systemEnd < 0 ? [] : [{ block: systemEnd, ttl: point.ttl }];
    return [{ block: (messageStarts[point.message] ?? 0) + point.block, ttl: point.ttl }];
  });
}

function sizeRules(tokens: number, { window }: ModelCard): string[] {
  return tokens > window ? [`${tokens} tokens exceed the window of ${window}`] : [];
}

type Thought = { token: string; prefix: string };

/** Each thinking block with the hash of everything before it but thinking, and that hash at the end. */
function walk(messages: readonly Message[], { blocks }: PromptLayout): { seen: Thought[]; end: string } {
  const seen: Thought[] = [];
  let at = 0;
  let [low, high] = [0, 0];
  const take = (hash: number): void => {
    low = Math.imul(low ^ (hash >>> 0), 0x9e3779b1) + 1;
    high = Math.imul(high ^ (hash / 4294967296), 0x85ebca6b) ^ (low >>> 15);
  };
  const count = messages.reduce((sum, { content }) => sum + content.length, 0);
  while (at < blocks.length - count) take(blocks[at++]?.hash ?? 0);
  for (const block of messages.flatMap(({ content }) => content)) {
    const hash = blocks[at++]?.hash ?? 0;
    if (isThinking(block)) seen.push({ token: tokenOf(block), prefix: `${low}.${high}` });
    else take(hash);
  }
  return { seen, end: `${low}.${high}` };
}

/** The identity of a thinking block: its signature; a redacted one has its data. */
function tokenOf(block: Block): string {
  if (block.type === "thinking") return block.signature;
  return block.type === "redacted_thinking" ? block.data : "";
}

/** Thinking may be left out from the start, from the end, or all of it; what is sent must stand where it was made. */
function boundRules(seen: readonly Thought[], signed: ReadonlyMap<string, Claims>): string[] {
  return seen.flatMap(({ token, prefix }, index) => {
    const claims = signed.get(token);
    const previous = seen[index - 1];
    const follows = previous === undefined || previous.token === claims?.previous;
    const bound = claims?.prefix === prefix && follows && index <= claims.before;
    return bound ? [] : [`thinking ${token} is sent after what stood before it was changed`];
  });
}
