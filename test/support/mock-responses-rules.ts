/**
 * Refusals of the Responses API, in its words where threads quote them, and stricter where its rules are not known:
 * everything that a response gave must come back as it was, in order, once, or not at all.
 */

import { checkFields, type Item, oneOf, Refused, type ResponsesBody } from "./mock-responses-fields.ts";
import { checkSearchItem, checkSearchTool, offersSearch, searchItem } from "./mock-responses-search.ts";
import { hashOf } from "./mock-wire.ts";

/**
 * An item as a model gave it. `order`: of all items ever given. `needs`: the reasoning before it. `search`: the one that
 * the reasoning led to.
 */
type Given = { item: Item; model: string; order: number; needs: string | undefined; search?: string };

export type Rules = {
  /** Throws `Refused`. */
  check(body: ResponsesBody): void;
  /** Remembers the items of a response to `body`, and gives its reasoning the content that is checked. */
  give(body: ResponsesBody, items: readonly Item[]): Item[];
};

/** `bound`: reasoning must stand behind exactly what it was made for. */
export function responsesRules({ bound = false } = {}): Rules {
  const given = new Map<string, Given>();
  let order = 0;
  return {
    check(body) {
      checkTop(body);
      for (const [at, item] of body.input.entries()) checkItem(item, `input[${at}]`);
      checkAdditions(body);
      checkMarks(body);
      checkPairs(body.input);
      checkGiven(body, given);
      if (bound) checkBound(body, given);
    },
    give(body, items) {
      let needs: string | undefined;
      return items.map((item, at) => {
        const made =
          item.type === "reasoning"
            ? {
                ...item,
                encrypted_content: sealed(body.model, String(item.id), bound ? prefixOf(body.input) : ""),
              }
            : item;
        const next = items[at + 1];
        const search = next?.type === "web_search_call" ? { search: String(next.id) } : {};
        const facts = { item: wellFormed(made), model: body.model, order: order++, needs };
        given.set(keyOf(made), { ...facts, ...search });
        needs = made.type === "reasoning" ? made.id : needs;
        return made;
      });
    },
  };
}

/** Half a character cannot come back. */
function wellFormed(item: Item): Item {
  return JSON.parse(JSON.stringify(item), (_, value) =>
    typeof value === "string" ? value.toWellFormed() : value,
  );
}

/** A call is known by its call, which our side may not change; everything else by its id. */
function keyOf({ type, id, call_id }: Item): string {
  return type === "function_call" ? `call ${call_id}` : `${type} ${id}`;
}

function sealed(model: string, id: string, prefix: string): string {
  return `gAAAA${hashOf(model, id, prefix)}`;
}

const topFields: Record<string, string> = {
  ...{ model: "string", stream: "boolean", store: "boolean", max_output_tokens: "number", include: "object" },
  ...{
    reasoning: "object",
    temperature: "number",
    prompt_cache_key: "string",
    prompt_cache_options: "object",
  },
  max_tool_calls: "number",
  ...{ tools: "object", tool_choice: "object|string", input: "object", parallel_tool_calls: "boolean" },
};

function checkTop(body: ResponsesBody): void {
  checkFields(body, topFields, "", ["model", "input", "store", "stream"]);
  if (body.store !== false) throw new Refused("store must be false here");
  const most = body.max_output_tokens as number | undefined;
  if (most !== undefined && most < 16)
    throw new Refused(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${most} instead.`,
    );
  if (String(body.prompt_cache_key ?? "").length > 64)
    throw new Refused("Invalid 'prompt_cache_key': string too long.");
  const includes = (body.include ?? []) as string[];
  for (const one of includes)
    oneOf(one, ["reasoning.encrypted_content", "web_search_call.action.sources"], "include");
  if (body.max_tool_calls !== undefined && Number(body.max_tool_calls) < 1)
    throw new Refused("Invalid 'max_tool_calls': integer below minimum value.");
  const { effort, summary } = body.reasoning ?? {};
  oneOf(effort, ["none", "minimal", "low", "medium", "high", "xhigh", "max"], "reasoning.effort");
  oneOf(summary, ["auto", "concise", "detailed"], "reasoning.summary");
  if (body.temperature !== undefined && includes.length > 0)
    throw new Refused("Unsupported parameter: 'temperature' is not supported with this model.");
  const options = body.prompt_cache_options;
  if (options) {
    checkFields(
      options,
      { mode: "string", ttl: "string", comparison_response_id: "string" },
      "prompt_cache_options",
    );
    oneOf(options.mode, ["implicit", "explicit"], "prompt_cache_options.mode");
    oneOf(options.ttl, ["30m", "12h"], "prompt_cache_options.ttl");
  }
  checkTools(body);
  if (!Array.isArray(body.input) || body.input.length === 0) throw new Refused("'input' must not be empty");
}

const toolFields: Record<string, string> = {
  ...{ type: "string", name: "string", description: "string", parameters: "object", strict: "boolean" },
};

/** `strict` must be said: left out, it is true, and our schemas are not. */
function checkTools(body: ResponsesBody): void {
  const { tools = [], tool_choice: choice } = body;
  for (const [at, tool] of tools.entries()) {
    oneOf(tool.type ?? "", ["function", "web_search"], `tools[${at}].type`);
    if (tool.type === "web_search") checkSearchTool(tool as Item, `tools[${at}]`, body);
    else checkFields(tool, toolFields, `tools[${at}]`, Object.keys(toolFields));
  }
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Refused("Duplicate tool names are not allowed.");
  if (choice === undefined || choice === "none") return;
  const {
    type,
    mode,
    tools: allowed = [],
  } = choice as { type?: string; mode?: string; tools?: { type?: string; name: string }[] };
  if (type !== "allowed_tools" || mode !== "auto" || allowed.length === 0)
    throw new Refused("Invalid value: tool_choice");
  const unknown = allowed.find(({ type, name }) =>
    type === "web_search" ? !offersSearch(body) : type !== "function" || !names.includes(name),
  );
  if (unknown) throw new Refused(`Tool choice '${unknown.name}' not found in 'tools' parameter.`);
}

const itemFields: Record<string, Record<string, string>> = {
  message: {
    type: "string",
    role: "string",
    id: "string",
    status: "string",
    content: "object",
    phase: "string",
  },
  reasoning: {
    type: "string",
    id: "string",
    summary: "object",
    content: "object",
    encrypted_content: "string",
  },
  function_call: { type: "string", id: "string", call_id: "string", name: "string", arguments: "string" },
  function_call_output: { type: "string", call_id: "string", output: "object" },
  additional_tools: { type: "string", role: "string", tools: "object" },
  web_search_call: searchItem,
};
const requiredOf: Record<string, readonly string[]> = {
  message: ["role", "content"],
  reasoning: ["id", "summary"],
  function_call: ["call_id", "name", "arguments"],
  function_call_output: ["call_id", "output"],
  additional_tools: ["role", "tools"],
  web_search_call: ["id", "status", "action"],
};
const prefixes: Record<string, string> = {
  ...{ message: "msg_", reasoning: "rs_", function_call: "fc_", web_search_call: "ws_" },
};

function checkItem(item: Item, path: string): void {
  const type = item.type ?? "";
  const types = itemFields[type];
  if (!types) throw new Refused(`Invalid value: '${type}' (${path}.type)`);
  checkFields(item, types, path, requiredOf[type]);
  const prefix = prefixes[type];
  if (item.id !== undefined && prefix && !item.id.startsWith(prefix))
    throw new Refused(
      `Invalid '${path}.id': '${item.id}'. Expected an ID that begins with '${prefix.slice(0, -1)}'.`,
    );
  if ((item.call_id?.length ?? 0) > 64)
    throw new Refused(
      `Invalid '${path}.call_id': string too long. Expected a string with maximum length 64.`,
    );
  if (type === "message") checkMessage(item, path);
  if (type === "additional_tools") checkAdded(item, path);
  if (type === "web_search_call") checkSearchItem(item, path);
  if (type === "function_call" && !isObject(String(item.arguments)))
    throw new Refused(`Invalid '${path}.arguments': not an object`);
  if (type === "function_call_output") checkParts(item.output, "user", `${path}.output`);
  if (type === "reasoning" && !item.encrypted_content)
    throw new Refused(
      `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    );
}

function checkAdded({ role, tools }: Item, path: string): void {
  oneOf(role, ["developer"], `${path}.role`);
  for (const [at, tool] of (tools as object[]).entries())
    checkFields(tool, toolFields, `${path}.tools[${at}]`, Object.keys(toolFields));
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

function checkMessage({ role, id, status, phase, content }: Item, path: string): void {
  oneOf(role, ["user", "assistant", "developer", "system"], `${path}.role`);
  if (role !== "assistant" && (id || phase || status)) throw new Refused(`Unknown parameter: '${path}.id'.`);
  if (role === "assistant" && (id === undefined) !== (status === undefined))
    throw new Refused(`Missing required parameter: '${path}.status'.`);
  oneOf(phase, ["commentary", "final_answer"], `${path}.phase`);
  checkParts(content, String(role), `${path}.content`);
}

const partFields: Record<string, Record<string, string>> = {
  input_text: { type: "string", text: "string", prompt_cache_breakpoint: "object" },
  input_image: { type: "string", detail: "string", image_url: "string", prompt_cache_breakpoint: "object" },
  output_text: { type: "string", text: "string", annotations: "object" },
  refusal: { type: "string", refusal: "string" },
};

function checkParts(parts: unknown, role: string, path: string): void {
  if (!Array.isArray(parts) || parts.length === 0) throw new Refused(`Invalid type for '${path}': empty`);
  const allowed = role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image"];
  for (const [at, part] of (parts as Item[]).entries()) {
    oneOf(part.type ?? "", allowed, `${path}[${at}]`);
    checkFields(part, partFields[part.type ?? ""] ?? {}, `${path}[${at}]`);
    if (part.type !== "input_image" && !(part.text ?? part.refusal))
      throw new Refused(`Empty text at '${path}[${at}]'`);
    if (part.type === "input_image" && !/^data:image\/\w+;base64,[\w+/]+=*$/.test(String(part.image_url)))
      throw new Refused(`Invalid '${path}[${at}].image_url'`, "invalid_value");
  }
}

/** Parts of the input with a mark, in order. The API writes the newest four; more than that is a mistake of ours. */
export function markedParts(input: readonly Item[]): Item[] {
  const parts = input.flatMap((item) => (item.output ?? item.content ?? []) as Item[]);
  return parts.filter((part) => part.prompt_cache_breakpoint !== undefined);
}

/** Tools that are added replace each other, never one that the request declares. */
function checkAdditions({ input, tools = [] }: ResponsesBody): void {
  const added = input.flatMap((item) =>
    item.type === "additional_tools" ? (item.tools as { name: string }[]) : [],
  );
  const twice = added.find(({ name }) => tools.some((tool) => tool.name === name));
  if (twice) throw new Refused(`Tool '${twice.name}' is already defined in 'tools'.`);
}

function checkMarks({ input, prompt_cache_options: options }: ResponsesBody): void {
  const marked = markedParts(input);
  if (marked.length > 4) throw new Refused(`${marked.length} cache breakpoints, of which four are written`);
  if (marked.length > 0 && options?.mode !== "explicit")
    throw new Refused("breakpoints beside implicit ones");
  for (const { prompt_cache_breakpoint: mark } of marked)
    if (JSON.stringify(mark) !== '{"mode":"explicit"}')
      throw new Refused("Invalid value: prompt_cache_breakpoint");
}

/** Types of items that only a model makes, besides its messages. */
const madeTypes = ["function_call", "reasoning", "web_search_call"];

/** Every call has one output, before anything else is said; stricter than the API, which looks for it anywhere. */
function checkPairs(input: readonly Item[]): void {
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const { type, call_id: id = "", role } of input) {
    if (type === "function_call_output" && !open.delete(id))
      throw new Refused(`No tool call found for function call output with call_id ${id}.`);
    const isReply = role === "assistant" || madeTypes.includes(type ?? "");
    if (open.size > 0 && type !== "function_call_output" && !isReply) break;
    if (type !== "function_call") continue;
    if (seen.has(id)) throw new Refused(`Duplicate call_id ${id}`);
    seen.add(id);
    open.add(id);
  }
  if (open.size > 0) throw new Refused(`No tool output found for function call ${[...open].join(", ")}.`);
}

/** Items that a response gave: verbatim, in order, once, and each with its reasoning. */
function checkGiven({ input, model }: ResponsesBody, given: ReadonlyMap<string, Given>): void {
  const ids = new Set<string>();
  let newest = -1;
  for (const [at, item] of input.entries()) {
    const { id } = item;
    if (id !== undefined && ids.has(id))
      throw new Refused(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
      );
    if (id !== undefined) ids.add(id);
    const known = given.get(keyOf(item));
    if (item.type === "reasoning") checkReasoning(item, known, { model, next: input[at + 1] });
    if (!known && id !== undefined) throw new Refused(`Item with id '${id}' not found.`);
    if (!known) continue;
    if (known.order <= newest) throw new Refused(`Item '${id ?? item.call_id}' is out of order.`);
    newest = known.order;
    checkKnown(item, known, ids);
  }
}

function checkKnown(item: Item, { item: made, needs }: Given, ids: ReadonlySet<string>): void {
  if (item.id !== undefined && needs && !ids.has(needs))
    throw new Refused(
      `Item '${item.id}' of type '${item.type}' was provided without its required 'reasoning' item: '${needs}'.`,
    );
  if (item.type === "web_search_call" && JSON.stringify(item) !== JSON.stringify(made))
    throw new Refused(`Item '${item.id}' is not what it was (status, action).`);
  if (item.type === "message" && JSON.stringify(bare(item)) !== JSON.stringify(bare(made)))
    throw new Refused(`Item '${item.id}' is not what it was (phase, text, annotations).`);
}

function bare({ content, phase }: Item): unknown[] {
  return [
    phase,
    (content as Record<string, unknown>[]).map(({ text, refusal, annotations }) => [
      text,
      refusal,
      annotations,
    ]),
  ];
}

function checkReasoning(
  item: Item,
  known: Given | undefined,
  { model, next }: { model: string; next: Item | undefined },
): void {
  if (known?.model !== model || item.encrypted_content !== known.item.encrypted_content)
    throw new Refused(
      `The encrypted content for item ${item.id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      "invalid_encrypted_content",
    );
  if (JSON.stringify(item.summary) !== JSON.stringify(known.item.summary))
    throw new Refused(`Item '${item.id}' is not what it was (summary).`);
  const follows = next && (next.role === "assistant" || madeTypes.includes(next.type ?? ""));
  if (!follows || (known.search !== undefined && next.id !== known.search))
    throw new Refused(
      `Item '${item.id}' of type 'reasoning' was provided without its required following item.`,
    );
}

/** Reasoning of another model cannot be read by this one; under `bound` neither can that of another conversation. */
function checkBound({ input, model }: ResponsesBody, given: ReadonlyMap<string, Given>): void {
  for (const [at, item] of input.entries()) {
    if (item.type !== "reasoning" || !given.has(keyOf(item))) continue;
    const start = startOfReply(input, at);
    if (item.encrypted_content !== sealed(model, String(item.id), prefixOf(input.slice(0, start))))
      throw new Refused(
        `The encrypted content for item ${item.id} could not be verified. Reason: bound to another conversation.`,
        "invalid_encrypted_content",
      );
  }
}

function startOfReply(input: readonly Item[], at: number): number {
  let start = at;
  const isReply = ({ type, role }: Item) => role === "assistant" || madeTypes.includes(type ?? "");
  while (start > 0 && isReply(input[start - 1] ?? {})) start -= 1;
  return start;
}

/** A hash of everything but reasoning and marks. */
export function prefixOf(input: readonly Item[]): string {
  const kept = input.filter(({ type }) => type !== "reasoning");
  return hashOf(
    JSON.stringify(kept, (key, value) =>
      ["prompt_cache_breakpoint", "id", "status"].includes(key) ? undefined : value,
    ),
  );
}
