/** The body of a request to the Responses API, which keeps nothing: each request holds the whole conversation. Pure. */

import { createHash } from "node:crypto";
import type {
  Block,
  ImageBlock,
  InlineTool,
  Message,
  MessageWire,
  TextBlock,
  ToolUseBlock,
} from "../../core/blocks.ts";
import type { CachePoint, ModelRequest, WebSearch } from "../../core/request.ts";
import { withoutSearches } from "../../core/text/search-text.ts";
import { cacheKey } from "../openai/client.ts";

/**
 * `instructions`: the role of system text. Some hosts do not know OpenAI's word for it. `plan`: a ChatGPT plan pays,
 * which takes functions in a namespace alone, and neither a limit of the reply nor a temperature.
 */
export type ResponsesDialect = { instructions?: "developer" | "system"; plan?: true };

/** The namespace of our tools where functions must have one. */
const namespace = "sawtooth";

/** The API refuses a smaller limit (pi#6265). */
const leastOutput = 16;
/** The API refuses longer ids of calls; other makers' are. */
const longestId = 64;

/**
 * The exact JSON body. Conversation comes before what changes with each request, so that each body of a session begins
 * like the one before.
 */
export function encodeResponses(request: ModelRequest, dialect: ResponsesDialect = {}): string {
  const { system, tools, messages, effort, carried, temperature, withdrawn } = request;
  const role = dialect.instructions ?? "developer";
  const marks = marksOf(request);
  const searches = searchOf(request);
  const include = [
    ...(carried ? ["reasoning.encrypted_content"] : []),
    // Without it only the pages that the text cites are told.
    ...(searches ? ["web_search_call.action.sources"] : []),
  ];
  const reasoning = { ...(effort ? { effort } : {}), ...(carried ? { summary: "auto" } : {}) };
  return JSON.stringify({
    model: request.model.slice(request.model.indexOf("/") + 1),
    stream: true,
    store: false,
    ...(dialect.plan ? {} : { max_output_tokens: outputLimit(request) }),
    // Of the tools of the API's own server, and so of searches and opened pages together.
    ...(searches ? { max_tool_calls: searches.maxUses } : {}),
    ...(include.length > 0 ? { include } : {}),
    ...(Object.keys(reasoning).length > 0 ? { reasoning } : {}),
    ...(!carried && !dialect.plan && temperature !== undefined ? { temperature } : {}),
    prompt_cache_key: cacheKey(system, tools, messages[0]?.content[0]),
    ...(tools.length > 0 ? { tools: [...encodeTools(tools, dialect), ...searchTools(searches)] } : {}),
    input: [
      ...(system
        ? [instruction(role, [marked({ type: "input_text", text: system }, marks.has("system"))])]
        : []),
      ...messages.flatMap((message, index) => encodeMessage(message, { role, index, marks, dialect })),
    ],
    ...(withdrawn ? { tool_choice: allowed(request, withdrawn) } : {}),
    ...(request.cacheAfter.length > 0 ? { prompt_cache_options: cacheOptions(request) } : {}),
  });
}

/** Tokens that a reply to `request` may have. */
export function outputLimit({ maxTokens }: ModelRequest): number {
  return Math.max(leastOutput, maxTokens);
}

/** One life holds for all that a request writes. With marks of our own there is none of the server's choice. */
function cacheOptions({ cacheAfter, previousMessageId }: ModelRequest): object {
  return {
    mode: "explicit",
    ttl: cacheAfter.every(({ ttl }) => ttl === "12h") ? "12h" : "30m",
    ...(previousMessageId ? { comparison_response_id: previousMessageId } : {}),
  };
}

/** The search is offered behind other tools alone. */
function searchOf({ tools, webSearch }: ModelRequest): WebSearch | undefined {
  return tools.length > 0 ? webSearch : undefined;
}

/**
 * The search of the API's own server, behind the other tools. It reads what OpenAI has stored of the web: an address
 * that the model makes up is not requested, and so tells its host nothing.
 */
function searchTools(search: WebSearch | undefined): object[] {
  if (!search) return [];
  const { blockedDomains } = search;
  const filters = blockedDomains.length > 0 ? { filters: { blocked_domains: blockedDomains } } : {};
  return [{ type: "web_search", external_web_access: false, ...filters }];
}

function encodeTools(tools: ModelRequest["tools"], { plan }: ResponsesDialect): object[] {
  const functions = tools.map(encodeTool);
  const description = "The tools of this session.";
  return plan ? [{ type: "namespace", name: namespace, description, tools: functions }] : functions;
}

/** Schemas are taken as they are: left out, `strict` is true, and changes them. */
function encodeTool({ name, description, input_schema }: InlineTool): object {
  return { type: "function", name, description, parameters: input_schema, strict: false };
}

/** The tools themselves stay as they are, so that their cache entry does. */
function allowed(request: ModelRequest, withdrawn: readonly string[]): object | "none" {
  const offered = request.tools.filter(({ name }) => !withdrawn.includes(name));
  const tools = [
    ...offered.map(({ name }) => ({ type: "function", name })),
    ...(searchOf(request) ? [{ type: "web_search" }] : []),
  ];
  return tools.length === 0 ? "none" : { type: "allowed_tools", mode: "auto", tools };
}

/** Marked places: "system", or message and block as "3.1". */
type Marks = ReadonlySet<string>;
type Place = { role: string; index: number; marks: Marks; dialect: ResponsesDialect };

/** Only input takes a mark: one at a reply goes to the end of the input before it. */
function marksOf({ messages, cacheAfter }: ModelRequest): Marks {
  return new Set(
    cacheAfter.map((point) => (point.after === "system" ? "system" : inputUpTo(messages, point))),
  );
}

function inputUpTo(messages: readonly Message[], point: Extract<CachePoint, { after: "block" }>): string {
  let { message, block } = point;
  for (; message >= 0; message--) {
    const { role, content } = messages[message] ?? { role: "system", content: [] };
    if (role === "user" && content.length > 0) return `${message}.${Math.min(block, content.length - 1)}`;
    block = Number.POSITIVE_INFINITY;
  }
  return "system";
}

function marked(part: object, mark: boolean): object {
  return mark ? { ...part, prompt_cache_breakpoint: { mode: "explicit" } } : part;
}

function instruction(role: string, content: readonly object[]): object {
  return { type: "message", role, content };
}

function encodeMessage(message: Message, place: Place): object[] {
  switch (message.role) {
    case "user":
      return encodeUser(message.content, place);
    case "assistant":
      return encodeReply(message.content, place.dialect);
    case "system":
      return encodeSystem(message.content, place.role);
  }
}

/** Small models take the newest tools for all that there are, unless they are told (pi, 2026-10). */
const moreTools =
  "The tools that follow are added to those declared before, which stay available. One of the same name replaces the earlier one.";

function encodeSystem(content: readonly Block[], role: string): object[] {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  const tools = content.flatMap((block) =>
    block.type === "tool_addition" && block.tool.type === "tool_definition" ? [block.tool.definition] : [],
  );
  const words = (words: string) => (words ? [instruction(role, [{ type: "input_text", text: words }])] : []);
  if (tools.length === 0) return words(text);
  const added = { type: "additional_tools", role: "developer", tools: tools.map(encodeTool) };
  return [...words(text), ...words(moreTools), added];
}

/** Results are items of their own, what was said one message after them. */
function encodeUser(content: readonly Block[], { index, marks }: Place): object[] {
  const items: object[] = [];
  const said: object[] = [];
  for (const [at, block] of content.entries()) {
    const mark = marks.has(`${index}.${at}`);
    if (block.type === "tool_result") {
      const parts =
        typeof block.content === "string" ? [{ type: "text" as const, text: block.content }] : block.content;
      // Always a list: a text that became one for a mark would not be what the cache has.
      const output = parts.map((part, last) => marked(inputPart(part), mark && last === parts.length - 1));
      items.push({ type: "function_call_output", call_id: callId(block.tool_use_id), output });
    } else if (block.type === "text" || block.type === "image") said.push(marked(inputPart(block), mark));
  }
  return said.length > 0 ? [...items, { type: "message", role: "user", content: said }] : items;
}

function inputPart(block: TextBlock | ImageBlock): object {
  if (block.type === "text") return { type: "input_text", text: block.text };
  const { media_type, data } = block.source;
  return { type: "input_image", detail: "auto", image_url: `data:${media_type};base64,${data}` };
}

/**
 * The items of a reply in the order in which they came, each once. Reasoning needs an item after it; and other items
 * have their ids only beside their reasoning, as the API pairs them by these. A search must have its id, so that one
 * whose reasoning is gone becomes words.
 */
function encodeReply(blocks: Block[], { plan }: ResponsesDialect): object[] {
  const last = blocks.findLastIndex(({ type }) => spoken.includes(type));
  const reasoned = blocks.some((block, at) => at < last && isReasoning(block));
  const content = reasoned ? blocks : withoutReasoned(blocks);
  const items: object[] = [];
  let open: { id: string; parts: object[] } | undefined;
  for (const [at, block] of content.entries()) {
    const wire = block.type === "text" ? block.wire : undefined;
    if (block.type === "text" && wire && open?.id === wire.id) open.parts.push(outputPart(block));
    else if (block.type === "text") {
      const parts = [outputPart(block)];
      open = wire && { id: wire.id, parts };
      items.push(replyMessage(parts, reasoned ? wire : wire && withoutId(wire)));
    } else open = undefined;
    if (block.type === "tool_use")
      items.push({ ...callItem(block, reasoned), ...(plan ? { namespace } : {}) });
    if (at < last || !isReasoning(block)) items.push(...ownItems(block));
  }
  return items;
}

/** The items that go back as they came: reasoning, and searches. */
function ownItems(block: Block): object[] {
  if (isReasoning(block)) return [{ type: "reasoning", ...block.wire.item, encrypted_content: block.data }];
  return block.type === "server_tool_use" && block.wire ? [block.wire.item] : [];
}

function withoutReasoned(blocks: Block[]): Block[] {
  return blocks.some(needsReasoning) ? withoutSearches(blocks) : blocks;
}

/** Types of blocks that reasoning can stand before. */
const spoken: readonly Block["type"][] = ["text", "tool_use", "server_tool_use"];

function needsReasoning(block: Block): boolean {
  return block.type === "server_tool_use" && block.wire?.reasoned === true;
}

function isReasoning(
  block: Block,
): block is Extract<Block, { type: "redacted_thinking" }> & { wire: object } {
  return block.type === "redacted_thinking" && block.wire !== undefined;
}

function withoutId({ id: _, ...wire }: MessageWire): Omit<MessageWire, "id"> {
  return wire;
}

function replyMessage(content: readonly object[], wire: Partial<MessageWire> = {}): object {
  return {
    type: "message",
    role: "assistant",
    ...(wire.id ? { id: wire.id, status: "completed" } : {}),
    content,
    ...(wire.phase ? { phase: wire.phase } : {}),
  };
}

/** Citations of another API have no place here. */
function outputPart({ text, wire, citations }: TextBlock): object {
  if (wire?.refusal) return { type: "refusal", refusal: text };
  return { type: "output_text", text, annotations: (wire && citations) ?? [] };
}

function callItem({ id, name, input, wire }: ToolUseBlock, reasoned: boolean): object {
  const own = reasoned && wire?.api === "responses" ? { id: wire.id } : {};
  return { type: "function_call", ...own, call_id: callId(id), name, arguments: JSON.stringify(input) };
}

function callId(id: string): string {
  if (id.length <= longestId) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
}
