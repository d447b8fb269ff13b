/** Requests to the strict server after they were found valid: strings made into blocks. */

import { hash } from "node:crypto";

export type WireBlock = {
  type: string;
  cache_control?: { type: "ephemeral"; ttl?: "5m" | "1h" };
  text?: string;
  thinking?: string;
  signature?: string;
  data?: string;
  id?: string;
  name?: string;
  input?: Record<string, unknown>;
  tool_use_id?: string;
  is_error?: boolean;
  content?: string | WireBlock[];
  /** Set on a change of the tools. */
  tool?: { type?: unknown; name?: unknown };
  source?: { type: string; media_type: string; data: string };
};
export type WireMessage = {
  role: "user" | "assistant" | "system";
  content: WireBlock[];
  clear_at?: "next_user_message";
};
export type WireBody = {
  model: string;
  max_tokens: number;
  system: WireBlock[];
  tools: (WireBlock & { name: string; defer_loading?: boolean })[];
  messages: WireMessage[];
  stream: boolean;
  cache_control?: WireBlock["cache_control"];
  thinking?: {
    type: "adaptive" | "enabled" | "disabled";
    display?: "summarized" | "omitted";
    budget_tokens?: number;
    block_binding?: { prefix_mismatch_behavior?: "error" | "drop_block" };
  };
  tool_choice?: { type: string };
  output_config?: { effort?: string };
  diagnostics?: { previous_message_id?: string | null };
};

/** A request that the API would not answer. `type` is the error's type on the wire. */
export class RefusedError extends Error {
  readonly status: number;
  readonly type: string;

  constructor(message: string, status = 400, type = "invalid_request_error") {
    super(message);
    this.status = status;
    this.type = type;
  }
}

export function isThinkingBlock(block: WireBlock): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** The block without cache markers, which are no part of what the model reads. */
export function withoutMarkers(block: WireBlock): WireBlock {
  const { cache_control, ...rest } = block;
  if (!Array.isArray(rest.content)) return rest;
  return { ...rest, content: rest.content.map(withoutMarkers) };
}

/** A short hash of texts, for signatures and comparisons. */
export function hashOf(...texts: string[]): string {
  return hash("sha256", `${texts.join("\0")}\0`, "base64url").slice(0, 22);
}
