/** OpenAI's own web search through the whole program: turned on, paid, shown, sent back, and told where there is none. */

import { expect, onTestFinished, test } from "vitest";
import { type ResponsesTurn, startResponsesServer } from "../support/mock-responses.ts";
import { jsonLines, makeWorkspace, sawtooth, writeSettings } from "../support/sawtooth.ts";

const url = "https://docs.example/regex";
const search: ResponsesTurn = {
  thinking: "I should look.",
  searches: [{ query: "regex look-around", sources: [url, "https://forum.example/t/1"] }, { open: url }],
  text: "It has none.",
  cited: [{ url, title: "Regex" }],
};
const auto = ["--permission-mode", "auto"];
const line = 'web search "regex look-around": 2 results (docs.example, forum.example)';
const opened = `web page opened: ${url}`;

/** A person with a row of their own, as the program is tested apart from OpenAI's host. `price`: of 1,000 searches. */
async function setUp(
  turns: readonly ResponsesTurn[],
  { price = 10, settings = { webSearch: true } as object } = {},
) {
  const server = await startResponsesServer({ turnOf: (_, index) => turns[index] ?? { text: "Done." } });
  const here = makeWorkspace();
  onTestFinished(async () => {
    here.remove();
    await server.close();
  });
  const models = { "mine/gpt-6.1-sol": { prices: { webSearch: price } } };
  const providers = { mine: { wire: "responses", url: server.url, key: "MINE_KEY" } };
  const set = (more: object) =>
    writeSettings(here, { models, providers, model: "mine/gpt-6.1-sol", ...settings, ...more });
  set({});
  here.env.MINE_KEY = "sk-canary-7f3a";
  const refused = () => server.received.flatMap(({ refused }) => refused ?? []);
  return { server, here, set, refused };
}

test("a search is billed by the piece, shown as lines everywhere, and sent back as it came", async () => {
  const { server, here, refused } = await setUp([search, { text: "And that is all." }]);
  const one = await sawtooth(here, ["-p", "look-around?", ...auto, "--output-format", "stream-json"]);
  expect(one).toMatchObject({ code: 0, stderr: "" });
  const shown = jsonLines(one.stdout) as { type: string; message?: { content: object[] } }[];
  expect(shown.find(({ type }) => type === "assistant")?.message?.content.slice(1, 5)).toEqual([
    {
      ...{ type: "server_tool_use", id: "ws_0_0", name: "web_search" },
      input: { type: "search", query: "regex look-around" },
    },
    {
      ...{ type: "web_search_tool_result", tool_use_id: "ws_0_0" },
      content: [
        { type: "web_search_result", url, title: "Regex" },
        { type: "web_search_result", url: "https://forum.example/t/1", title: "" },
      ],
    },
    { type: "server_tool_use", id: "ws_0_1", name: "web_search", input: { type: "open_page", url } },
    {
      ...{ type: "web_search_tool_result", tool_use_id: "ws_0_1" },
      content: [{ type: "web_search_result", url, title: "Regex" }],
    },
  ]);
  expect(shown.at(-1)).toMatchObject({
    result: "It has none.",
    usage: { server_tool_use: { web_search_requests: 1 } },
  });
  const again = await sawtooth(here, ["-p", "and?", "-c", ...auto, "--output-format", "json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({ subtype: "success", result: "And that is all." });
  expect((JSON.parse(again.stdout) as { total_cost_usd: number }).total_cost_usd).toBeGreaterThan(0.01);
  expect(refused()).toEqual([]);
  expect(server.requests[1]?.input.filter(({ type }) => type === "web_search_call")).toHaveLength(2);
  expect((await sawtooth(here, ["report"])).stdout).toMatch(/1 web search +.*0\.0100/);
  const markdown = await sawtooth(here, ["sessions", "show"]);
  expect(markdown.stdout).toContain(line);
  expect(markdown.stdout).toContain(opened);
});

test("a person who watches sees each line; a rule that denies goes into the filter, or turns the search off", async () => {
  const { server, here, refused } = await setUp([search]);
  const run = (...words: string[]) => sawtooth(here, ["-p", "look", "--verbose", ...auto, ...words]);
  const { stderr } = await run();
  expect(stderr).toContain(line);
  expect(stderr).toContain(opened);
  await run("--deny", "host(*.ads.example)", "--deny", "host(b.example:8443)");
  await run("--deny", "web_search");
  await run("--deny", "host(*)");
  expect(server.requests.map(({ tools }) => tools?.filter(({ type }) => type === "web_search"))).toEqual([
    [{ type: "web_search", external_web_access: false }],
    [{ type: "web_search", external_web_access: false, filters: { blocked_domains: ["ads.example"] } }],
    [],
    [],
  ]);
  expect(refused()).toEqual([]);
});

test("with more domains denied than the search can leave out, one line says so at the start and in doctor", async () => {
  const { server, here, set } = await setUp([search]);
  const denied = (many: number) => Array.from({ length: many }, (_, at) => `host(ads${at}.example)`);
  const run = async (many: number) => {
    set({ deny: denied(many) });
    const { stderr, code } = await sawtooth(here, ["-p", "look", ...auto]);
    expect(code).toBe(0);
    return stderr.split("\n").filter((each) => each.includes("webSearch in settings"));
  };
  expect(await run(100)).toEqual([]);
  expect(await run(101)).toEqual([
    expect.stringContaining("webSearch in settings has no effect: 101 domains are denied"),
  ]);
  const offered = server.requests.map(({ tools }) => tools?.some(({ type }) => type === "web_search"));
  expect(offered).toEqual([true, false]);
  const doctor = await sawtooth(here, ["doctor"]);
  expect(doctor.stdout).toContain("webSearch in settings has no effect with mine/gpt-6.1-sol");
  expect(doctor.stdout).toContain("deny at most 100 domains");
});

test("doctor says that an OpenAI model searches, and that no gateway before one does", async () => {
  const here = makeWorkspace();
  onTestFinished(here.remove);
  const says = async (env: Record<string, string>) => {
    writeSettings(here, { webSearch: true, model: "openai/gpt-5.5" });
    const run = await sawtooth(here, ["doctor"], { env: { OPENAI_API_KEY: "sk-canary-7f3a", ...env } });
    return run.stdout.split("\n").filter((each) => each.includes("web search"));
  };
  expect(await says({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" })).toEqual([
    expect.stringContaining("webSearch in settings has no effect with openai/gpt-5.5"),
  ]);
  expect(await says({})).toEqual([expect.stringContaining("on, with the models of OpenAI")]);
});
