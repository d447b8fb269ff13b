/** Searches of the API's own server as they stream in: kept as they came, told of, and cut where they are cut. */

import { expect, test } from "vitest";
import { encodeAnthropic } from "../../../src/models/anthropic/encoding.ts";
import { exchange, failure, request } from "../fixtures/exchange.ts";
import { block, ended, start, stop, stream, text } from "../fixtures/wire-server.ts";

const page = {
  ...{ type: "web_search_result", title: "Regex", url: "https://docs.example/a" },
  ...{ encrypted_content: "Eq==", page_age: "May 1", unknown_field: [1, { b: 2, a: 1 }] },
};
const use = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search" };
const asked = (index: number, ...json: string[]) =>
  block(
    index,
    { ...use, input: {} },
    json.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );
const result = { type: "web_search_tool_result", tool_use_id: use.id, content: [page] };
const citation = { type: "web_search_result_location", url: page.url, encrypted_index: "x" };
const usage = { output_tokens: 9, server_tool_use: { web_search_requests: 2 } };

test("blocks stay as they came, citations with them; the search is told with its query, and counted", async () => {
  const cited = block(3, { type: "text", text: "", citations: [] }, [
    ...[
      { type: "citations_delta", citation },
      { type: "text_delta", text: "none" },
    ],
  ]);
  const events = [
    ...asked(0, '{"que', 'ry":"look"}'),
    ...block(1, result, []),
    ...text(2, "It has "),
    ...cited,
  ];
  const { reply, parts } = await exchange(stream(start, ...events, ended("end_turn", usage), stop));
  const { content, usage: billed } = await reply;
  expect(JSON.stringify(content)).toBe(
    JSON.stringify([
      { ...use, input: { query: "look" } },
      result,
      { type: "text", text: "It has " },
      { type: "text", text: "none", citations: [citation] },
    ]),
  );
  expect(billed.webSearches).toBe(2);
  expect(parts.find(({ type }) => type === "searched")).toEqual({
    type: "searched",
    search: { id: use.id, query: "look", pages: [page] },
  });
});

test("of a reply that is cut in a search no half of it is kept", async () => {
  const half = block(1, { ...use, input: {} }, [{ type: "input_json_delta", partial_json: '{"que' }], true);
  const { reply } = await exchange(stream(start, ...text(0, "I look."), ...half, ended("max_tokens"), stop));
  expect((await reply).content).toEqual([{ type: "text", text: "I look." }]);
  const broken = await exchange(stream(start, ...half, ended("end_turn"), stop));
  expect((await failure(broken.reply)).kind).toBe("incomplete");
});

test("the tool stands behind the others, with its domains only where there are some", () => {
  const toolsOf = (blockedDomains: string[]) =>
    JSON.parse(encodeAnthropic({ ...request, webSearch: { maxUses: 3, blockedDomains } })).tools.slice(-1);
  const plain = { type: "web_search_20250305", name: "web_search", max_uses: 3 };
  expect(toolsOf([])).toEqual([plain]);
  expect(toolsOf(["a.example"])).toEqual([{ ...plain, blocked_domains: ["a.example"] }]);
});
