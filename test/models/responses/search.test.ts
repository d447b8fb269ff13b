/** Searches of OpenAI's own server: the tool that is sent, the items that come, what is billed, and what goes back. */

import { expect, test } from "vitest";
import { composeRequest } from "../../../src/context/request/compose.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { AssistantBlock } from "../../../src/core/blocks.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import type { ModelCard } from "../../../src/core/model-card.ts";
import { noUsage } from "../../../src/core/model-card.ts";
import type { ModelPart } from "../../../src/core/ports.ts";
import { searchesIn, searchLine, spokenText } from "../../../src/core/text/search-text.ts";
import { findCard } from "../../../src/models/cards.ts";
import { providers } from "../../../src/models/providers.ts";
import { encodeResponses } from "../../../src/models/responses/encoding.ts";
import { assembleResponse } from "../../../src/models/responses/stream.ts";
import { started } from "../../support/logs.ts";
import { eventsOf, itemsOf, type ResponsesTurn } from "../../support/mock-responses.ts";
import { type Item, Refused, type ResponsesBody } from "../../support/mock-responses-fields.ts";
import { responsesRules } from "../../support/mock-responses-rules.ts";

const row = providers.find(({ name }) => name === "openai");
const card = findCard("openai/gpt-6.1-sol", { row }).card;
const other = findCard("openai/gpt-6-sol", { row }).card;
const claude = findCard("anthropic/claude-sonnet-5-5").card;
const tools = [{ name: "bash", description: "", input_schema: { type: "object" as const } }];
const none: string[] = [];

function startOf(model: ModelCard, blockedDomains?: readonly string[]): EventBody {
  const webSearch = blockedDomains ? { webSearch: { maxUses: 8, blockedDomains } } : {};
  return { ...started(model), tools, ...webSearch } as EventBody;
}

const said = (text: string): EventBody => ({ type: "user_message", content: [{ type: "text", text }] });

function bodyOf(bodies: readonly EventBody[]): ResponsesBody {
  const events = bodies.map((body, seq) => ({ seq, at: 0, ...body }) as LogEvent);
  return JSON.parse(encodeResponses(composeRequest(events, applyEvents(events)).request));
}

/** A reply of the strict server to a session with a search, as its stream is read. */
function replyTo(turn: ResponsesTurn, { usage = true } = {}) {
  const rules = responsesRules();
  const first = [startOf(card, none), said("look")];
  const body = bodyOf(first);
  rules.check(body);
  const items = rules.give(body, itemsOf(turn, 0, body));
  const parts: ModelPart[] = [];
  const onPart = (part: ModelPart) => void parts.push(part);
  const assembly = assembleResponse({ card, onPart, estimate: () => noUsage, secret: "", limit: 9999 });
  const events = eventsOf(turn, { id: "resp_1", items, body, bill: { input: 1, cached: 0, written: 0 } });
  for (const event of events as { response?: Item }[]) {
    if (!usage) delete event.response?.tool_usage;
    assembly.take(event as never);
  }
  const reply = assembly.reply();
  const message: EventBody = { type: "assistant_message", durationMs: 1, ...reply } as EventBody;
  return { rules, items, parts, reply, partial: assembly.partial(), log: [...first, message, said("and?")] };
}

const url = "https://docs.example/a";
const searching: ResponsesTurn = {
  thinking: "hm",
  between: true,
  searches: [
    { queries: ["regex look-around", "re2"], sources: [url, "https://b.example/"] },
    { open: url },
    { open: url, find: "look\u0000ahead" },
    { query: "more", status: "failed" },
  ],
  text: "It has none.",
  cited: [{ url: `${url}?utm_source=openai`, title: "Regex" }],
  calls: [{ name: "bash", args: "{}" }],
};

test("the search is one tool behind the others with what the rules deny, and off not a byte differs", () => {
  const off = bodyOf([startOf(card), said("look")]);
  const on = bodyOf([startOf(card, none), said("look")]);
  const { tools: offered, include, max_tool_calls, ...rest } = on;
  const { tools: plain, include: before, ...same } = off;
  expect(offered).toEqual([...(plain ?? []), { type: "web_search", external_web_access: false }]);
  expect([include, before]).toEqual([
    ["reasoning.encrypted_content", "web_search_call.action.sources"],
    ["reasoning.encrypted_content"],
  ]);
  expect(max_tool_calls).toBe(8);
  expect(rest).toEqual(same);
  const blocked = bodyOf([startOf(card, ["ads.example"]), said("look")]);
  expect(blocked.tools?.at(-1)).toEqual({
    type: "web_search",
    external_web_access: false,
    filters: { blocked_domains: ["ads.example"] },
  });
  for (const body of [off, on, blocked]) responsesRules().check(body);
  const many = Array.from({ length: 101 }, (_, at) => `site${at}.example`);
  expect(bodyOf([startOf(card, many), said("look")])).toEqual(off);
  expect(bodyOf([startOf(card, many.slice(1)), said("look")]).tools).toHaveLength(2);
});

test("a tool that is withdrawn leaves the search on offer", () => {
  const gated: EventBody = { type: "tools_gated", withdrawn: ["bash"] };
  const body = bodyOf([startOf(card, none), said("look"), gated]);
  expect(body.tool_choice).toEqual({ type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }] });
  responsesRules().check(body);
  expect(bodyOf([startOf(card), said("look"), gated]).tool_choice).toBe("none");
});

test("each item is told as it ends, kept in two blocks, and comes back verbatim with its reasoning and citations", () => {
  const { rules, items, parts, reply, log } = replyTo(searching);
  const lines = [
    'web search "regex look-around; re2": 2 results (docs.example, b.example)',
    `web page opened: ${url}`,
    `web page searched for "look\\u0000ahead": ${url}`,
    'web search "more": failed (failed)',
  ];
  expect(parts.flatMap((part) => (part.type === "searched" ? [searchLine(part.search)] : []))).toEqual(lines);
  expect(searchesIn(reply.content).map(searchLine)).toEqual(lines);
  expect(reply.content.filter(({ type }) => type === "web_search_tool_result")[0]).toMatchObject({
    content: [
      { url, title: "Regex" },
      { url: "https://b.example/", title: "" },
    ],
  });
  expect(JSON.stringify(reply.content.find(({ type }) => type === "server_tool_use"))).not.toMatch(
    /"input":\{[^}]*sources/,
  );
  const result: EventBody = {
    type: "tool_result",
    ...{ toolUseId: "call_0_0", toolName: "bash", isError: false, content: "ok" },
  };
  const body = bodyOf([...log.slice(0, -1), result]);
  rules.check(body);
  const bare = (all: readonly Item[]) =>
    all.map(({ status, ...item }) => ({ ...item, ...(status ? { status } : {}) }));
  expect(bare(body.input.slice(-items.length - 1, -1))).toEqual(bare(items));
});

test("what is billed is what the server says, else each query, but no page that was opened", () => {
  expect(replyTo(searching).reply.usage.webSearches).toBe(2);
  expect(replyTo(searching, { usage: false }).reply.usage.webSearches).toBe(3);
  expect(replyTo({ searches: [{ open: url }], text: "a" }, { usage: false }).reply.usage).not.toHaveProperty(
    "webSearches",
  );
});

test("a search goes back whole without reasoning where there never was any, else as words", () => {
  const plain = replyTo({ searches: [{ query: "q", sources: [url] }], text: "Here." });
  const back = bodyOf(plain.log);
  plain.rules.check(back);
  expect(back.input.map(({ type }) => type)).toEqual([
    "message",
    "message",
    "web_search_call",
    "message",
    "message",
  ]);
  const thought = replyTo({ thinking: "hm", searches: [{ query: "q", sources: [url] }], text: "Here." });
  const edit = { edits: [{ type: "drop_thinking", to: 2 }], policy: "p", reason: "", economics: {} };
  const dropped = bodyOf([...thought.log, { type: "context_edited", ...edit } as EventBody]);
  thought.rules.check(dropped);
  const words = `<web_search query="q">\n${url}\n</web_search>`;
  expect(JSON.stringify(dropped.input)).not.toContain("web_search_call");
  expect(JSON.stringify(dropped.input)).toContain(JSON.stringify(words).slice(1, -1));
});

test("a search that nothing follows goes back whole, with the reasoning before it", () => {
  const { rules, items, log } = replyTo({ thinking: "hm", searches: [{ query: "q", sources: [url] }] });
  const body = bodyOf(log);
  rules.check(body);
  expect(body.input.slice(-items.length - 1, -1).map(({ id }) => id)).toEqual(["rs_0_0", "ws_0_0"]);
});

test.each([
  ["another model of OpenAI's", other],
  ["Claude, which has a search of its own", claude],
])("%s reads what was found as words, and nothing of the items", (_, model) => {
  const { log } = replyTo({ ...searching, calls: [] });
  const changed = [...log, { type: "model_changed", model } as EventBody, said("and you?")];
  const events = changed.map((body, seq) => ({ seq, at: 0, ...body }) as LogEvent);
  const { request } = composeRequest(events, applyEvents(events));
  const sent = JSON.stringify(request.messages);
  expect(sent).toContain('<web_search query=\\"regex look-around; re2\\">\\nRegex https://docs.example/a');
  expect(sent).not.toMatch(/ws_0|server_tool_use|citations|wire/);
});

test("of a cut reply and of an interrupted one the searches that ended stay, as words", () => {
  const cut = { ...searching, searches: [{ query: "q", sources: [url] }], calls: [] };
  for (const made of [replyTo({ ...cut, incomplete: "max_output_tokens" }), replyTo(cut)]) {
    const content: AssistantBlock[] =
      made.reply.stopReason === "max_tokens" ? made.reply.content : made.partial;
    expect(content.map(({ type }) => type)).toEqual(["server_tool_use", "web_search_tool_result", "text"]);
    const message = { ...made.log[2], content } as EventBody;
    const body = bodyOf([...made.log.slice(0, 2), message, said("go on")]);
    made.rules.check(body);
    expect(JSON.stringify(body.input)).toContain("<web_search query=");
  }
  const ended = replyTo({ searches: [{ query: "q" }], incomplete: "max_output_tokens" }).reply;
  expect(ended.content).toEqual([]);
});

test("a text that cites begins a line of its own", () => {
  const { reply } = replyTo({ text: "One.", cited: [{ url, title: "A" }] });
  expect(reply.content).toMatchObject([{ citations: [{ type: "url_citation", url }] }]);
  const again = { type: "text" as const, text: "Two.", wire: { api: "responses" as const, id: "msg_9" } };
  expect(spokenText([...reply.content, again])).toBe("One.\nTwo.");
});

const search = { type: "web_search" };
const changed = (item: Item, change: object): Item => ({ ...item, ...change }) as Item;
type Change = (body: ResponsesBody) => void;
const at = ({ input }: ResponsesBody) => input.findIndex(({ type }) => type === "web_search_call");
const edited =
  (change: (item: Item) => Item): Change =>
  (body) =>
    void body.input.splice(at(body), 1, change(body.input[at(body)] as Item));

test.each<[string, RegExp, Change]>([
  [
    "a tool type that is none",
    /'web_search_1'/,
    (body) => Object.assign(body.tools?.at(-1) ?? {}, { type: "web_search_1" }),
  ],
  ["the search twice", /Duplicate/, (body) => body.tools?.push(search as never)],
  [
    "a filter that is none",
    /filters.blocked'/,
    (body) => Object.assign(body.tools?.at(-1) ?? {}, { filters: { blocked: [] } }),
  ],
  [
    "a domain with a scheme",
    /no domain/,
    (body) =>
      Object.assign(body.tools?.at(-1) ?? {}, { filters: { blocked_domains: ["https://a.example"] } }),
  ],
  ["the least effort", /minimal/, (body) => Object.assign(body, { reasoning: { effort: "minimal" } })],
  [
    "a search without its id",
    /Missing required parameter: 'input\[3\].id'/,
    edited(({ id: _, ...item }) => item),
  ],
  ["a search without its status", /'input\[3\].status'/, edited(({ status: _, ...item }) => item)],
  ["a search that was changed", /not what it was/, edited((item) => changed(item, { status: "failed" }))],
  ["an action that is none", /action.type/, edited((item) => changed(item, { action: { type: "look" } }))],
  ["a search without its reasoning", /required 'reasoning' item/, (body) => body.input.splice(2, 1)],
  ["reasoning without its search", /required following item/, (body) => body.input.splice(3, 1)],
  [
    "a search elsewhere",
    /following item|out of order/,
    (body) => body.input.splice(4, 0, ...body.input.splice(3, 1)),
  ],
  [
    "citations left out",
    /annotations/,
    (body) =>
      Object.assign((body.input[4]?.content ?? []) as object, [
        { type: "output_text", text: "It has none.", annotations: [] },
      ]),
  ],
])("the strict server refuses %s", (_, message, change) => {
  const { rules, log } = replyTo({
    ...searching,
    between: undefined,
    searches: [{ query: "q" }],
    calls: [],
  } as never);
  const body = bodyOf(log);
  expect(() => rules.check(structuredClone(body))).not.toThrow();
  change(body);
  expect(() => rules.check(body)).toThrow(Refused);
  expect(() => rules.check(body)).toThrow(message);
});

test("only OpenAI's own host over Responses has a search, at its price", () => {
  const priceOf = (id: string, changes?: object) =>
    findCard(id, changes && row ? { row: { ...row, ...changes } } : {}).card.prices.webSearch;
  expect(priceOf("openai/gpt-6.1-sol", {})).toBe(10);
  expect(priceOf("openai/gpt-6.1-sol", { wire: "chat", contract: "automatic" })).toBeUndefined();
  expect(priceOf("openai/gpt-6.1-sol")).toBeUndefined();
  expect(priceOf("openai/gpt-9", {})).toBeUndefined();
  expect(priceOf("chatgpt/gpt-6.1-sol")).toBeUndefined();
  const overrides = { "mine/gpt-5.5": { prices: { webSearch: 7 } } };
  const mine = (wire: "chat" | "responses") =>
    row && findCard("mine/gpt-5.5", { overrides, row: { ...row, name: "mine", wire } }).card.prices.webSearch;
  expect([mine("responses"), mine("chat")]).toEqual([7, undefined]);
});
