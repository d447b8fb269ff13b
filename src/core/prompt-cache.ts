/** How the API bills a prompt by its cache breakpoints (provider-facts §3), simulated. Pure. */

import { type CacheLife, cacheLifeMs, noUsage, type Usage } from "./model-card.ts";

/** A prompt as it is sent, without cache markers. */
export type Prompt = {
  model: string;
  tools: readonly object[];
  system: readonly object[];
  messages: readonly PromptMessage[];
  /** Settings whose change invalidates the cached messages: tool choice, thinking, effort. */
  settings?: unknown;
};
export type PromptMessage = { role: string; content: readonly PromptContent[]; clear_at?: string };
type PromptContent = { type: string };

/** One block of a prompt as the cache sees it. */
export type PromptBlock = {
  /** Equal content, equal hash. 53 bits. */
  hash: number;
  /** Length of its JSON text; four bytes are a token. 0 for what the model does not read. */
  bytes: number;
  /** True when it shares a cache position with the block before: a run of calls, or of results. */
  joined: boolean;
};

/** `systemEnd` and `messageStarts` are indexes into `blocks`: the last of the system, the first of each message. */
export type PromptLayout = { blocks: PromptBlock[]; systemEnd: number; messageStarts: number[] };

/** A breakpoint after the block with this index. */
export type Breakpoint = { block: number; ttl: CacheLife };

/** A cache entry: the hash of a whole prefix, its life, and the start of the last request that used it. */
export type CacheState = ReadonlyMap<number, { ttl: CacheLife; usedAt: number }>;

export type BilledRequest = {
  blocks: readonly PromptBlock[];
  /** In order of position. */
  breakpoints: readonly Breakpoint[];
  /** Shorter prefixes are not cached. */
  minTokens: number;
  /** Positions that a read looks back from a breakpoint. */
  lookback?: number;
  /** Start of the request, in milliseconds. */
  now: number;
};

export const emptyCache: CacheState = new Map();

/** Assumed size of an image after the API scales it, whatever the size of its encoding. */
const imageBytes = 4 * 1600;

/**
 * Lists the blocks of a prompt in the order they are hashed: tools, system, messages. The model is part of the first,
 * the settings and whether there are images are part of the first message: so a change invalidates what follows.
 */
export function layoutOf(prompt: Prompt): PromptLayout {
  const blocks: PromptBlock[] = [];
  for (const tool of prompt.tools) blocks.push(blockOf("tool", tool));
  for (const block of prompt.system) blocks.push(blockOf("system", block));
  seed(blocks, 0, prompt.model);
  const systemEnd = blocks.length - 1;
  const messageStarts: number[] = [];
  const lastUser = prompt.messages.findLastIndex((message) => message.role === "user");
  let images = false;
  for (const [index, message] of prompt.messages.entries()) {
    messageStarts.push(blocks.length);
    const cleared = message.clear_at === "next_user_message" && index < lastUser;
    for (const [at, block] of message.content.entries()) {
      images ||= imagesIn(block).length > 0;
      const joined = joinsRun(block.type, message.content[at - 1]?.type);
      blocks.push(
        cleared ? { hash: 0, bytes: 0, joined: true } : { ...blockOf(message.role, block), joined },
      );
    }
  }
  const settings = `${prompt.model} ${images} ${JSON.stringify(prompt.settings ?? null)}`;
  seed(blocks, systemEnd + 1, settings);
  return { blocks, systemEnd, messageStarts };
}

/** Tokens of the whole prompt: bytes over four. */
export function promptTokens(blocks: readonly PromptBlock[]): number {
  return Math.ceil(blocks.reduce((sum, block) => sum + block.bytes, 0) / 4);
}

/**
 * Computes the bill of the API for the input, and the cache afterwards. From each breakpoint the longest warm prefix
 * within the look-back is found and refreshed; the longest of them is read; the input between it and each later
 * breakpoint is written at that breakpoint's TTL; the rest is plain input.
 */
export function billRequest(request: BilledRequest, cache: CacheState): { usage: Usage; cache: CacheState } {
  const { blocks, breakpoints, minTokens, now } = request;
  const prefixes = prefixesOf(blocks);
  const after = new Map([...cache].filter(([, entry]) => now - entry.usedAt < cacheLifeMs[entry.ttl]));
  const hits = breakpoints.flatMap(({ block }) => warmPrefix(prefixes, block, request.lookback ?? 20, after));
  let paid = 0;
  for (const { hash, tokens, ttl } of hits) {
    after.set(hash, { ttl, usedAt: now });
    paid = Math.max(paid, tokens);
  }
  const usage = { ...noUsage, cacheReadTokens: paid };
  for (const { block, ttl } of breakpoints) {
    const prefix = prefixes[block];
    if (!prefix || prefix.tokens <= paid || prefix.tokens < minTokens) continue;
    usage[ttl === "1h" || ttl === "12h" ? "cacheWrite1hTokens" : "cacheWrite5mTokens"] +=
      prefix.tokens - paid;
    after.set(prefix.hash, { ttl, usedAt: now });
    paid = prefix.tokens;
  }
  usage.inputTokens = (prefixes.at(-1)?.tokens ?? 0) - paid;
  return { usage, cache: after };
}

type Prefix = { hash: number; tokens: number; position: number };

/** Returns the prefix that ends with each block, by a rolling hash: the time is linear in the request's length. */
function prefixesOf(blocks: readonly PromptBlock[]): Prefix[] {
  let [hash, bytes, position] = [0, 0, 0];
  return blocks.map((block) => {
    if (block.bytes > 0) hash = chained(hash, block.hash);
    bytes += block.bytes;
    if (!block.joined) position += 1;
    return { hash, tokens: Math.ceil(bytes / 4), position };
  });
}

function warmPrefix(
  prefixes: readonly Prefix[],
  from: number,
  lookback: number,
  cache: CacheState,
): { hash: number; tokens: number; ttl: CacheLife }[] {
  const nearest = prefixes[from]?.position ?? 0;
  for (let index = from; index >= 0; index--) {
    const prefix = prefixes[index];
    if (!prefix || nearest - prefix.position > lookback) return [];
    const entry = cache.get(prefix.hash);
    if (entry) return [{ hash: prefix.hash, tokens: prefix.tokens, ttl: entry.ttl }];
  }
  return [];
}

/** Returns true when a block shares a cache position with the block before: a run of calls, or of results. */
export function joinsRun(type: string, before: string | undefined): boolean {
  return type === before && (type === "tool_use" || type === "tool_result");
}

function blockOf(position: string, block: object): PromptBlock {
  const { hash, bytes } = digest(JSON.stringify(block));
  const images = imagesIn(block);
  const encoded = images.reduce((sum, data) => sum + data.length, 0);
  return {
    hash: chained(digest(position).hash, hash),
    bytes: bytes - encoded + images.length * imageBytes,
    joined: false,
  };
}

/** Returns the base64 data of an image, or of the images in a tool result. */
function imagesIn(block: object): string[] {
  const { type, source, content } = block as { type?: string; source?: { data?: string }; content?: unknown };
  if (type === "image") return [source?.data ?? ""];
  return type === "tool_result" && Array.isArray(content) ? content.flatMap(imagesIn) : [];
}

function seed(blocks: PromptBlock[], index: number, text: string): void {
  const block = blocks[index];
  if (block) block.hash = chained(block.hash, digest(text).hash);
}

/** Combines two 53-bit hashes in order. It uses only arithmetic, because every request chains all of its blocks. */
function chained(before: number, next: number): number {
  let a = Math.imul((before >>> 0) ^ 0x9e3779b1, 0x85ebca6b) ^ (next >>> 0);
  let b = Math.imul((before / 4294967296) ^ a ^ (a >>> 15), 0x27d4eb2f) ^ (next / 4294967296);
  a = Math.imul(a ^ b ^ (b >>> 13), 2246822507);
  b = Math.imul(b ^ a ^ (a >>> 16), 3266489909);
  a ^= b ^ (b >>> 14);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}

/** A 53-bit hash of a text (cyrb53) and its length in UTF-8, in one pass. */
function digest(text: string): { hash: number; bytes: number } {
  let [a, b, bytes] = [0xdeadbeef, 0x41c6ce57, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
    // A surrogate is half of four bytes.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code & 0xf800) === 0xd800 ? 2 : 3;
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return { hash: 4294967296 * (2097151 & b) + (a >>> 0), bytes };
}
