/** The content blocks and messages of the Messages API, in its own words. Pure types. */

/**
 * `wire`, on any block of a reply: what the API that made it wants back as it was. Only that API reads it, and only for
 * the model that made it.
 */
export type TextBlock = {
  type: "text";
  text: string;
  citations?: readonly object[] | null;
  wire?: MessageWire;
};
export type ImageBlock = {
  type: "image";
  source: { type: "base64"; media_type: string; data: string };
};
/** `thinking` may be empty; `signature` binds the block to everything sent before it, and is empty when there is none. */
export type ThinkingBlock = { type: "thinking"; thinking: string; signature: string; wire?: ThinkingWire };
/** `data`: encrypted. */
export type RedactedThinkingBlock = { type: "redacted_thinking"; data: string; wire?: ReasoningWire };
export type ToolUseBlock = {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
  wire?: CallWire;
};
/** A search that the provider's own server makes (`web_search`). It goes back as it came, as does what it found. */
export type ServerToolUseBlock = {
  type: "server_tool_use";
  id: string;
  name: string;
  /** A query; over Responses the action, without what it found: a query, or a page to open or to look through. */
  input: unknown;
  wire?: SearchWire;
};
/** The pages that a search found, their texts encrypted; or why it found none. It can come with the reply after the next results. */
export type WebSearchResultBlock = {
  type: "web_search_tool_result";
  tool_use_id: string;
  content: readonly FoundPage[] | { type: "web_search_tool_result_error"; error_code: string };
  wire?: { api: "responses" };
};
export type FoundPage = {
  type: "web_search_result";
  url: string;
  title: string;
  encrypted_content: string;
  page_age?: string | null;
};
export type ToolResultBlock = {
  type: "tool_result";
  tool_use_id: string;
  content: ResultContent;
  is_error?: true;
};

/** The field of the message that held the thinking, which has three names in chat completions; `details` as they came. */
export type ThinkingWire =
  | { api: "chat"; field: "reasoning_content" | "reasoning" }
  | { api: "chat"; field: "reasoning_details"; details: readonly object[] };
/** A reasoning item of Responses without its encrypted content, which is the block's `data`. */
export type ReasoningWire = {
  api: "responses";
  item: { id: string; summary: readonly object[]; content?: readonly object[] };
};
/** The item of Responses that held the text; `refusal`: the text is one. */
export type MessageWire = { api: "responses"; id: string; phase?: string; refusal?: true };
/** The item of Responses that was the search, whole. `reasoned`: reasoning came before it, without which it is refused. */
export type SearchWire = { api: "responses"; item: object; reasoned?: true };
/** Gemini signs calls in `extra_content`; Responses has an id for the item besides that of the call. */
export type CallWire = { api: "chat"; extra_content: unknown } | { api: "responses"; id: string };

/**
 * Withdraws a declared tool from here on, or offers it again, or offers one that is defined here, over Responses; only in
 * a system message (provider-facts §2).
 */
export type ToolChangeBlock = {
  type: "tool_removal" | "tool_addition";
  tool: { type: "tool_reference"; name: string } | { type: "tool_definition"; definition: InlineTool };
};
/** A tool that is declared behind what was sent, so that nothing before it changes. */
export type InlineTool = { name: string; description: string; input_schema: object };

/** The content of a tool result: plain text, or text and images. */
export type ResultContent = string | (TextBlock | ImageBlock)[];
export type UserBlock = TextBlock | ImageBlock;
/** Raw blocks of a reply, kept byte-exact: the key order of the wire is preserved. */
export type AssistantBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ServerToolUseBlock
  | WebSearchResultBlock;
export type Block = UserBlock | AssistantBlock | ToolResultBlock | ToolChangeBlock;

/** One message as it goes out. `clear_at` only on system messages (provider-facts §2). */
export type Message = {
  role: "user" | "assistant" | "system";
  content: Block[];
  clear_at?: "next_user_message";
};

export function isThinking(block: Block): block is ThinkingBlock | RedactedThinkingBlock {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** Returns true when the API that made the block wants something in it back. */
export function isCarried(block: Block): boolean {
  return "wire" in block && block.wire !== undefined;
}

/** The text of a thought as people may read it; "" where there is none, or only a machine can read it. */
export function thoughtText(block: Block): string {
  if (block.type === "thinking") return block.thinking;
  const summary = block.type === "redacted_thinking" ? (block.wire?.item.summary ?? []) : [];
  return summary.map((part) => ("text" in part ? String(part.text) : "")).join("\n\n");
}

/**
 * A search and what it found. `query`: "" when it stands in an earlier reply. `opened`: it is no search of the web, but the
 * page of this address was opened, or looked through for `query`. `error`: a code of the API; "none" while no result came.
 */
export type Search = {
  id: string;
  query: string;
  opened?: string;
  pages: readonly FoundPage[];
  error?: string;
};

/** Returns true for a search of the provider's server, and for what it found. */
export function isSearch(block: Block): block is ServerToolUseBlock | WebSearchResultBlock {
  return block.type === "server_tool_use" || block.type === "web_search_tool_result";
}

export function isToolUse(block: Block): block is ToolUseBlock {
  return block.type === "tool_use";
}

/** The text of a tool result, images named but not spelled out. */
export function resultText(content: ResultContent): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}
