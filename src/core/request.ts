/** One request to a model, before any provider's encoding. Pure types. */

import type { Message } from "./blocks.ts";
import type { CacheLife } from "./model-card.ts";

/** JSON Schema, the subset that `schema.ts` checks. */
export type JsonSchema = {
  type?: "object" | "string" | "integer" | "number" | "boolean" | "array";
  description?: string;
  enum?: readonly string[];
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  additionalProperties?: boolean | JsonSchema;
};

/** `defer_loading`: declared, but not offered until a message offers it. */
export type ToolDefinition = {
  name: string;
  description: string;
  input_schema: JsonSchema;
  defer_loading?: true;
};

/**
 * Declared from the first request where tools can change in mid-conversation, and never offered: the API adds words of
 * its own to a prompt in which they may, and without it the first change would add them, before all that is cached
 * (measured by pi on 2026-10; not checked by us).
 */
export const placeholderTool: ToolDefinition = {
  name: "reserved",
  description: "Reserved. It is never available and must not be called.",
  input_schema: { type: "object", properties: {} },
  defer_loading: true,
};

/** The provider's own search: the most searches of one reply, and domains that it leaves out with all below them. */
export type WebSearch = { maxUses: number; blockedDomains: readonly string[] };

/** A cache breakpoint: after the system text, or after one block of one message. */
export type CachePoint =
  | { after: "system"; ttl: CacheLife }
  | { after: "block"; message: number; block: number; ttl: CacheLife };

export type ModelRequest = {
  /** `provider/id`. */
  model: string;
  system: string;
  tools: ToolDefinition[];
  messages: Message[];
  /** At most four, in order of position. */
  cacheAfter: CachePoint[];
  /** Declared tools that may not be called now, for APIs that take such a list (`allowed_tools`). */
  withdrawn?: string[];
  /** Present where the provider's server may search the web. */
  webSearch?: WebSearch;
  maxTokens: number;
  thinking: "adaptive" | "none";
  /** Present when each message with calls must come back with its thinking (`Contract.thinking`). */
  carried?: true;
  effort?: string;
  /** Sent only to models that accept it (`ModelCard.temperature`). */
  temperature?: number;
  /** Set for the rest of a session once a prefix-bound history was edited (provider-facts §2). */
  blockBinding?: "drop_block";
  /** Id of the previous reply, for APIs that then explain a cache miss (provider-facts §3). */
  previousMessageId?: string;
};

/** Levels of thinking effort, as the command line, the settings and the screen name them. */
export const efforts = ["low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];
