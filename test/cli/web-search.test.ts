/** The provider's own web search through the whole program: turned on, paid, shown, sent back, and left out. */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { startOpenaiServer } from "../support/mock-openai.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { bash, serve, tempWorkspace } from "../support/served.ts";
import { briefOf, delegate, offered, report, turnsOf } from "./delegates.ts";

const auto = ["--permission-mode", "auto"];
const lines = ["--output-format", "stream-json"];
const found = ["https://docs.example/regex", "https://forum.example/t/1"];
const search: ScriptedReply = {
  thinking: "I should look.",
  searches: [{ query: "regex look-around", found }],
  text: "It has none, ",
  cited: "says the page",
};

async function withSearch(turns: Parameters<typeof serve>[0], settings: object = {}) {
  const served = await serve(turns);
  writeSettings(served.workspace, { webSearch: true, ...settings });
  return served;
}

function eventsOf({ home }: Workspace): LogEvent[] {
  const [file = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: home });
  return jsonLines(readFileSync(join(home, file), "utf8")) as LogEvent[];
}

const tools = (body: WireBody | undefined) =>
  (body?.tools ?? []) as { name: string; blocked_domains?: string[] }[];
const searchOf = (body: WireBody | undefined) => tools(body).find(({ name }) => name === "web_search");
const repliesIn = (body: WireBody | undefined) =>
  body?.messages.filter(({ role }) => role === "assistant").map(({ content }) => content) ?? [];

test("the setting adds one tool behind the others and changes nothing else; a session keeps what it began with", async () => {
  const { workspace, server } = await serve(() => ({ text: "done" }));
  const run = (...words: string[]) => sawtooth(workspace, ["-p", "go", ...auto, ...words]);
  await run();
  writeSettings(workspace, { webSearch: true });
  await run("-c");
  await run();
  await run("--deny", "web_search");
  await run("--deny", "host(*)");
  await run("--deny", "host(example.com)", "--deny", "host(*.ads.example)", "--deny", "host(b.example:8443)");
  const [without, resumed, on, denied, walled, blocked] = server.requests;
  expect(resumed?.tools).toEqual(without?.tools);
  expect(denied?.tools).toEqual(without?.tools);
  expect(walled?.tools).toEqual(without?.tools);
  expect(on?.tools).toEqual([
    ...(without?.tools ?? []),
    { type: "web_search_20250305", name: "web_search", max_uses: 8 },
  ]);
  expect({ ...on, tools: [] }).toEqual({ ...without, tools: [], messages: on?.messages });
  expect(searchOf(blocked)?.blocked_domains).toEqual(["ads.example", "example.com"]);
});

test("a search is kept as it came, billed by the piece, shown as a line everywhere, and sent back byte for byte", async () => {
  const { workspace, server } = await withSearch([search, { text: "And that is all." }]);
  const one = await sawtooth(workspace, ["-p", "look-around?", ...auto, ...lines]);
  expect(one.stderr).toBe("");
  const shown = jsonLines(one.stdout) as {
    type: string;
    message?: { content: object[] };
    total_cost_usd?: number;
  }[];
  const reply = shown.find(({ type }) => type === "assistant")?.message?.content;
  expect(reply).toMatchObject([
    { type: "thinking" },
    { type: "server_tool_use", name: "web_search", input: { query: "regex look-around" } },
    { type: "web_search_tool_result", content: found.map((url) => ({ url })) },
    { type: "text", text: "It has none, " },
    { type: "text", text: "says the page", citations: [{ url: found[0] }] },
  ]);
  expect(one.stdout).not.toContain("encrypted_content");
  expect(shown.at(-1)).toMatchObject({
    result: "It has none, says the page",
    usage: { server_tool_use: { web_search_requests: 1 } },
  });
  const again = await sawtooth(workspace, ["-p", "and?", "-c", ...auto, "--output-format", "json"]);
  expect(again.code).toBe(0);
  const logged = eventsOf(workspace).find((event) => event.type === "assistant_message");
  const sent = /"messages":(.*)\}$/s.exec(server.rawBodies[1] ?? "")?.[1] ?? "";
  for (const block of logged?.type === "assistant_message" ? logged.content : [])
    if (block.type !== "text") expect(sent).toContain(JSON.stringify(block));
  expect((JSON.parse(again.stdout) as { total_cost_usd: number }).total_cost_usd).toBeGreaterThan(0.01);
  const line = 'web search "regex look-around": 2 results (docs.example, forum.example)';
  const report = await sawtooth(workspace, ["report"]);
  expect(report.stdout).toMatch(/1 web search +.*0\.0100/);
  const markdown = await sawtooth(workspace, ["sessions", "show"]);
  expect(markdown.stdout).toContain(line);
});

test("a person who watches sees a line for a search, and a failed one says why", async () => {
  const { workspace } = await withSearch([
    {
      searches: [
        { query: "a", found },
        { query: "b", error: "max_uses_exceeded" },
      ],
      text: "Here.",
    },
  ]);
  const { stderr, stdout } = await sawtooth(workspace, ["-p", "look", "--verbose", ...auto]);
  expect(stderr).toContain('web search "a": 2 results (docs.example, forum.example)');
  expect(stderr).toContain('web search "b": failed (max_uses_exceeded)');
  expect(stdout.trim()).toBe("Here.");
});

test("a reply that was paused in a search goes on, with nothing said between", async () => {
  const paused: ScriptedReply = {
    searches: [
      { query: "a", found },
      { query: "b", found, waits: true },
    ],
    stop: "pause_turn",
  };
  const { workspace, server } = await withSearch([
    paused,
    paused,
    { text: "Both say so." },
    { text: "Yes." },
  ]);
  const { stdout, code } = await sawtooth(workspace, ["-p", "look", ...auto]);
  expect([code, stdout.trim()]).toEqual([0, "Both say so."]);
  expect(server.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(repliesIn(server.requests[2])).toHaveLength(1);
  expect(repliesIn(server.requests[2])[0]?.map(({ type }) => type)).toEqual([
    ...["server_tool_use", "web_search_tool_result", "server_tool_use", "web_search_tool_result"],
    ...["server_tool_use", "web_search_tool_result", "server_tool_use"],
  ]);
  expect((await sawtooth(workspace, ["-p", "sure?", "-c", ...auto])).stdout.trim()).toBe("Yes.");
});

test("a search beside a call waits for the call's result, and its own comes with the next reply", async () => {
  const { workspace, server } = await withSearch([
    { searches: [{ query: "a", found, waits: true }], calls: [bash("echo here")] },
    { text: "Both are in." },
    { text: "Yes." },
  ]);
  const first = await sawtooth(workspace, ["-p", "look", ...auto]);
  expect(first.stdout.trim()).toBe("Both are in.");
  expect((await sawtooth(workspace, ["-p", "sure?", "-c", ...auto])).stdout.trim()).toBe("Yes.");
  expect(repliesIn(server.requests[2]).map((content) => content.map(({ type }) => type))).toEqual([
    ["server_tool_use", "tool_use"],
    ["web_search_tool_result", "text"],
  ]);
});

test("a search whose result never came is left out of what is said next", async () => {
  const { workspace, server } = await withSearch([
    { text: "I look.", searches: [{ query: "a", found, waits: true }], stop: "max_tokens" },
    { text: "Shorter." },
  ]);
  const { stdout, code } = await sawtooth(workspace, ["-p", "look", ...auto]);
  expect([code, stdout.trim()]).toEqual([0, "Shorter."]);
  expect(repliesIn(server.requests[1])[0]?.map(({ type }) => type)).toEqual(["text"]);
});

test("another model without a search reads what was found as words between tags", async () => {
  const openai = await startOpenaiServer({ text: "I see." });
  const { workspace } = await withSearch([search]);
  await sawtooth(workspace, ["-p", "look-around?", ...auto]);
  workspace.env.OPENAI_BASE_URL = openai.url;
  const other = await sawtooth(workspace, ["-p", "and?", "-c", "--model", "openai/gpt-5.5", ...auto]);
  await openai.close();
  expect(other.code, other.stderr).toBe(0);
  const body = JSON.stringify(openai.requests[0]);
  expect(body).toContain("<web_search query=");
  expect(body).toContain(`About ${found[0]} ${found[0]}`);
  expect(body).not.toMatch(/server_tool_use|encrypted|citations/);
});

test("where the model has no search, one line says so at the start and in doctor, and nothing fails", async () => {
  const openai = await startOpenaiServer({ text: "ok" });
  const workspace = tempWorkspace();
  writeSettings(workspace, { webSearch: true, model: "openai/gpt-5.5" });
  workspace.env.OPENAI_BASE_URL = openai.url;
  const { stderr, code } = await sawtooth(workspace, ["-p", "go", ...auto]);
  await openai.close();
  expect(code).toBe(0);
  expect(
    stderr.split("\n").filter((line) => line.includes("webSearch in settings has no effect")),
  ).toHaveLength(1);
  expect(JSON.stringify(openai.requests[0])).not.toContain("web_search");
  const doctor = await sawtooth(workspace, ["doctor"]);
  expect(doctor.stdout).toMatch(/note +web search +webSearch in settings has no effect/);
});

test("what a search found counts as text from outside, and its addresses as known ones", async () => {
  const turns = [search, { calls: [bash("echo x")] }, { text: "done" }];
  const { workspace } = await withSearch(turns);
  writeFileSync(join(workspace.cwd, "a.txt"), "x");
  await sawtooth(workspace, ["-p", "look-around?", ...auto]);
  const { exposureBy } = await import("../../src/permissions/sandbox/exposure.ts");
  const { knownUrls } = await import("../../src/permissions/sandbox/known-urls.ts");
  const events = eventsOf(workspace);
  expect(exposureBy({ private: "workspace", workspace: [workspace.cwd] })(events).outside?.from).toBe(
    "a web search",
  );
  expect(knownUrls()(events)(found[0] ?? "")).toBe(true);
  expect(knownUrls()(events)("https://other.example/")).toBe(false);
});

test("a sub-agent searches where the session that delegated does, and its searches are in the bill", async () => {
  const turns = turnsOf({
    parent: [{ calls: [delegate("brief one")] }, { text: "known" }],
    child: (_, step) => (step === 0 ? { ...search, calls: [bash("echo x")] } : report("it has none")),
  });
  const { workspace, server } = await withSearch(turns);
  const { stdout, code } = await sawtooth(workspace, ["-p", "go", ...offered]);
  expect(code).toBe(0);
  const [child] = server.requests.filter((body) => briefOf(body) !== undefined);
  expect(searchOf(child)).toBeDefined();
  expect(jsonLines(stdout).at(-1)).toMatchObject({
    usage: { server_tool_use: { web_search_requests: 1 } },
  });
});
