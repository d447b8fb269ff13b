import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Happening } from "../../src/core/ports.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import { createAgent, defineModel, ModelError, UsageError } from "../../src/library/create-agent.ts";
import type { Agent, AgentOptions, AgentTool } from "../../src/library/surface.ts";
import type { Turns } from "../../src/models/playback/script.ts";
import { scriptedCard, scriptedModel } from "../../src/models/playback/scripted.ts";
import { pngOfRows } from "../support/image-fuzz.ts";
import { bash, tempWorkspace } from "../support/served.ts";
import { until } from "../support/until.ts";

type Given = Omit<AgentOptions, "model"> & { turns: Turns<ModelRequest> };

/** An agent over a scripted model, in a home and a folder of its own. */
async function agentWith({ turns, ...options }: Given): Promise<Agent> {
  const { env, cwd } = tempWorkspace();
  const model = scriptedModel({ card: scriptedCard({ file: "test.yaml" }), turns });
  const agent = await createAgent({ env, cwd, model, ...options });
  onTestFinished(() => agent.close());
  return agent;
}

const input = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
const weather = (more: Partial<AgentTool> = {}): AgentTool => ({
  ...{ name: "weather", description: "Tells the weather.", inputSchema: input },
  run: ({ city }) => `sunny in ${city}`,
  ...more,
});
const asked = (city = "Bern"): Turns<ModelRequest> => [
  { calls: [{ weather: { city } }] },
  { text: "It is sunny." },
];

function results(agent: Agent): string[] {
  return agent.log.events().flatMap((event) => (event.type === "tool_result" ? [String(event.content)] : []));
}
function warnings(agent: Agent): string[] {
  return agent.log.events().flatMap((event) => (event.type === "warning" ? [event.text] : []));
}

test("a turn is awaited for its result, and iterated for what happens in it", async () => {
  const agent = await agentWith({ turns: [{ text: "It adds numbers." }, { text: "And more." }] });
  const seen: Happening[] = [];
  const turn = agent.prompt("What does it do?");
  for await (const happening of turn) seen.push(happening);
  expect(await turn).toMatchObject({ reason: "completed", text: "It adds numbers." });
  expect((await turn).costUsd).toBeGreaterThan(0);
  const events = seen.flatMap((one) => (one.type === "event" ? [one.event] : []));
  expect([events[0]?.type, events.at(-1)?.type]).toEqual(["user_message", "turn_ended"]);
  const text = seen.flatMap((one) =>
    one.type === "part" && one.part.type === "text_delta" ? [one.part.text] : [],
  );
  expect(text.join("")).toBe("It adds numbers.");
  expect((await agent.prompt("And?")).text).toBe("And more.");
  const stored = readFileSync(join(agent.folder, "events.jsonl"), "utf8").trim().split("\n");
  expect(stored).toHaveLength(agent.log.events().length);
});

test("a message of a program names no files of the machine, also where it steers", async () => {
  const { env, cwd } = tempWorkspace();
  writeFileSync(join(cwd, "shot.png"), pngOfRows(40, 30, 0));
  let agent: Agent | undefined;
  const tool = weather({ run: async () => String(await agent?.steer("and @shot.png")) });
  const turns = asked();
  agent = await agentWith({ turns, cwd, env, tools: [tool], permission: () => ({ decision: "allow" }) });
  await agent.prompt("look at @shot.png");
  const said = agent.log.events().flatMap((event) => (event.type === "user_message" ? event.content : []));
  expect(said.map(({ type }) => type)).toEqual(["text", "text"]);
});

test("leaving the loop does not end the turn", async () => {
  const agent = await agentWith({ turns: [{ text: "One. Two. Three." }] });
  const turn = agent.prompt("Count.");
  for await (const _ of turn) break;
  expect(await turn).toMatchObject({ reason: "completed", text: "One. Two. Three." });
});

test("mistakes of the program are told in one line", async () => {
  const { env, cwd } = tempWorkspace();
  await expect(createAgent({ env, cwd })).rejects.toThrow("no credentials");
  await expect(createAgent({ env, cwd, model: "nonsense" })).rejects.toThrow("unknown model nonsense");
  const odd = { env, cwd, modle: "x" } as AgentOptions;
  await expect(createAgent(odd)).rejects.toThrow("options.modle is not known: use");
  await expect(createAgent({ env, cwd, model: {} as never })).rejects.toThrow("see defineModel");
  await expect(createAgent({ env, cwd, allow: ["rm -rf"] })).rejects.toThrow('the rule "rm -rf"');
  await expect(createAgent({ env, cwd, permission: "yes" as never })).rejects.toThrow("must be a function");
  for (const [tool, why] of [
    [weather({ name: "bash" }), "a tool of Sawtooth has this name"],
    [weather({ name: "a tool" }), "letters, digits"],
    [weather({ description: "" }), "description is missing"],
    [weather({ inputSchema: {} }), 'type "object"'],
    [weather({ run: undefined as never }), "run must be a function"],
  ] as const)
    await expect(createAgent({ env, cwd, tools: [tool] })).rejects.toThrow(why);
  const twice = createAgent({ env, cwd, tools: [weather(), weather()] });
  await expect(twice).rejects.toThrow("there are two of it");
  await expect(twice).rejects.toThrow(UsageError);
});

test("a second prompt at once, an empty one and one after the end are refused", async () => {
  const agent = await agentWith({ turns: [{ text: "Done." }] });
  const first = agent.prompt("Go.");
  await expect(agent.prompt("Go on.")).rejects.toThrow("a turn is running");
  await first;
  await expect(agent.prompt(" ")).rejects.toThrow("needs a text");
  expect(await agent.steer("Faster.")).toBe(false);
  await Promise.all([agent.close(), agent.close()]);
  await expect(agent.prompt("Go.")).rejects.toThrow("the agent is closed");
  await expect(
    (async () => {
      for await (const _ of agent.prompt("Go.")) break;
    })(),
  ).rejects.toThrow("the agent is closed");
  await expect(agent.steer("Go.")).rejects.toThrow("the agent is closed");
});

test("a tool of the program runs, and says what went wrong", async () => {
  const progress: string[] = [];
  const turns = [
    { calls: [{ weather: { city: "Bern" } }] },
    { calls: [{ weather: { city: "Uri" } }] },
    { calls: [{ weather: { city: "Zug" } }] },
    { calls: [{ weather: { town: 1 } }] },
    { text: "Sun." },
  ];
  const tool = weather({
    readOnly: true,
    run({ city }, { onProgress }) {
      onProgress(`looking at ${city}`);
      if (city === "Uri") throw new Error("no such place");
      return city === "Zug" ? (7 as never) : `sunny in ${city}`;
    },
  });
  const agent = await agentWith({ turns, tools: [tool], permissionMode: "plan" });
  agent.follow((one) => one.type === "progress" && progress.push(one.text));
  await agent.prompt("How is the weather?");
  expect(results(agent)).toEqual([
    "sunny in Bern",
    "weather failed: no such place",
    "weather returned number, not text.",
    expect.stringContaining("input.city is missing"),
  ]);
  expect(progress).toEqual(["looking at Bern", "looking at Uri", "looking at Zug"]);
  expect(warnings(agent)).toEqual([]);
});

test("a tool that changes something needs a rule, the mode auto, or a yes", async () => {
  const yes: AgentOptions["permission"] = () => ({ decision: "allow" });
  const cases: [options: Omit<AgentOptions, "model">, allowed: boolean][] = [
    [{}, false],
    [{ allow: ["weather"] }, true],
    [{ permissionMode: "auto" }, true],
    [{ permissionMode: "auto", deny: ["weather"] }, false],
    [{ permissionMode: "plan", permission: yes }, false],
    [{ permission: yes }, true],
    [{ permission: () => ({ decision: "deny", say: "Look out of the window." }) }, false],
  ];
  for (const [options, allowed] of cases) {
    const agent = await agentWith({ turns: asked(), tools: [weather()], ...options });
    await agent.prompt("How is the weather?");
    expect(results(agent)[0], JSON.stringify(options)).toMatch(allowed ? /^sunny/ : /^Not permitted/);
  }
});

test("the callback is told the call and its rule, and what it remembers is not asked again", async () => {
  const questions: unknown[] = [];
  const agent = await agentWith({
    turns: [...(asked() as []), ...(asked("Uri") as [])],
    tools: [weather()],
    permission(question) {
      questions.push(question);
      return { decision: "allow", remember: { rule: question.rule ?? "", scope: "session" } };
    },
  });
  await agent.prompt("How is the weather?");
  await agent.prompt("And in Uri?");
  expect(results(agent)).toEqual(["sunny in Bern", "sunny in Uri"]);
  expect(questions).toEqual([
    {
      ...{ tool: "weather", input: { city: "Bern" }, title: 'weather {"city":"Bern"}', rule: "weather" },
      ...{ reason: "Calling weather needs permission.", toolUseId: expect.any(String) },
    },
  ]);
});

test("a callback that throws or answers nonsense denies the call, and the log says so", async () => {
  for (const [permission, why] of [
    [() => Promise.reject(new Error("no database")), "the permission callback failed: no database"],
    [() => true as never, "the permission callback answered true"],
    [() => undefined as never, "the permission callback answered undefined"],
  ] as const) {
    const agent = await agentWith({ turns: asked(), tools: [weather()], permission });
    expect((await agent.prompt("How is the weather?")).reason).toBe("completed");
    expect(results(agent)[0]).toMatch(/^Not permitted/);
    expect(warnings(agent).join()).toContain(why);
  }
});

test("a callback or a tool that never answers holds no interruption up", async () => {
  let reached = 0;
  const never = (): Promise<never> => {
    reached++;
    return new Promise(() => {});
  };
  for (const options of [{ permission: never }, { permissionMode: "auto" as const }]) {
    const agent = await agentWith({ turns: asked(), tools: [weather({ run: never })], ...options });
    const before = reached;
    const turn = agent.prompt("How is the weather?");
    await until(() => reached > before, "the call");
    await agent.interrupt();
    expect(await turn).toMatchObject({ reason: "interrupted" });
    expect(results(agent)).toHaveLength(1);
  }
});

test("a signal and the time end a turn, and a message steers it", async () => {
  const hangs = weather({ readOnly: true, run: () => new Promise<string>(() => {}) });
  const stopped = await agentWith({ turns: asked(), tools: [hangs] });
  const stop = new AbortController();
  const turn = stopped.prompt("How is the weather?", { signal: stop.signal });
  stopped.follow((one) => one.type === "event" && one.event.type === "permission_decided" && stop.abort());
  expect((await turn).reason).toBe("interrupted");
  const late = await agentWith({ turns: asked(), tools: [hangs], maxTimeMs: 500 });
  expect((await late.prompt("How is the weather?")).reason).toBe("max_time");
  const picture = { type: "image" as const, data: pngOfRows(40, 30, 0) };
  const steer = async () => {
    await expect(steered.steer([{ ...picture, data: new Uint8Array(9) }])).rejects.toThrow("picture 1");
    await expect(steered.steer(" ")).rejects.toThrow("steer needs a text");
    return String(await steered.steer([{ type: "text", text: "In Uri, please." }, picture]));
  };
  const steered: Agent = await agentWith({
    turns: asked(),
    tools: [weather({ readOnly: true, run: steer })],
  });
  await steered.prompt("How is the weather?");
  expect(results(steered)).toEqual(["true"]);
  const said = steered.log
    .events()
    .flatMap((event) => (event.type === "user_message" ? [event.content] : []));
  expect(said[1]).toMatchObject([
    { type: "text", text: "In Uri, please." },
    { type: "text", text: expect.stringContaining("40x30") },
    { type: "image" },
  ]);
});

test("two agents in one process work apart, and a session is resumed by its id", async () => {
  const { env, cwd } = tempWorkspace();
  const open = (words: string, more: AgentOptions = {}) => {
    const model = scriptedModel({
      card: scriptedCard({ file: `${words}.yaml` }),
      turns: [{ calls: [bash(`mkdir -p ${words} && cd ${words} && pwd`)] }, { text: words }],
    });
    return createAgent({ env, cwd, model, permissionMode: "auto", ...more });
  };
  const agents = await Promise.all([open("one"), open("two")]);
  const ends = await Promise.all(agents.map((agent) => agent.prompt("Go.")));
  expect(ends.map(({ text }) => text)).toEqual(["one", "two"]);
  expect(agents.map((agent) => results(agent)[0])).toEqual([
    expect.stringContaining(`${cwd}/one`),
    expect.stringContaining(`${cwd}/two`),
  ]);
  for (const agent of agents) await agent.close();
  const again = await open("one", { resume: agents[0]?.sessionId ?? "" });
  expect(again.log.events().length).toBeGreaterThanOrEqual(agents[0]?.log.events().length ?? 0);
  expect((await again.prompt("Again.")).reason).toBe("completed");
  await again.close();
});

test("the mode changes while the agent is open", async () => {
  const agent = await agentWith({
    turns: [...(asked() as []), ...(asked() as [])],
    tools: [weather()],
    permission: () => ({ decision: "deny" }),
  });
  await agent.prompt("How is the weather?");
  agent.setMode("auto");
  await agent.prompt("How is it?");
  expect(results(agent)[0]).toMatch(/^Not permitted/);
  expect(results(agent)[1]).toBe("sunny in Bern");
  expect(() => agent.setMode("yolo" as never)).toThrow(
    "setMode takes ask, accept-edits, plan, auto, not yolo",
  );
  const headless = await agentWith({ turns: [...(asked() as []), ...(asked() as [])], tools: [weather()] });
  await headless.prompt("How is the weather?");
  headless.setMode("auto");
  await headless.prompt("How is it?");
  expect(results(headless)).toEqual([expect.stringMatching(/^Not permitted/), "sunny in Bern"]);
});

test("model and effort change between turns, and what cannot be used changes nothing", async () => {
  const { env, cwd } = tempWorkspace();
  const echo = (id: string, window = 50_000) =>
    defineModel({
      ...{ id, window },
      send: async ({ effort }) => ({ content: [{ type: "text", text: `${id} ${effort ?? "as it is"}` }] }),
    });
  const script = join(cwd, "one.yaml");
  writeFileSync(script, "turns:\n  - text: of the script\n    repeat: 9\n");
  const agent = await createAgent({ env, cwd, model: echo("mine/one"), effort: "low" });
  onTestFinished(() => agent.close());
  expect(agent.choices()).toEqual({ model: "mine/one", effort: "low", mode: "ask" });
  const first = agent.prompt("Hello.");
  expect(() => agent.setEffort("high")).toThrow("a turn is running");
  await expect(agent.setModel(echo("mine/two"))).rejects.toThrow("its model and effort change between turns");
  expect((await first).text).toBe("mine/one low");
  await agent.setModel(echo("mine/two"));
  agent.setEffort("high");
  expect((await agent.prompt("Hello.")).text).toBe("mine/two high");
  agent.setEffort(undefined);
  expect((await agent.prompt("Hello.")).text).toBe("mine/two as it is");
  for (const [model, why] of [
    ["nonsense", "unknown model nonsense"],
    ["anthropic/claude-sonnet-5-5", "credentials"],
    [{} as never, "see defineModel"],
    [echo("mine/tiny", 100), "window"],
  ] as const)
    await expect(agent.setModel(model), why).rejects.toThrow(why);
  expect(agent.choices()).toEqual({ model: "mine/two", mode: "ask" });
  await agent.setModel(`scripted/${script}`);
  expect((await agent.prompt("Hello.")).text).toBe("of the script");
  expect(() => agent.setEffort("enormous" as never)).toThrow("setEffort takes low");
  await agent.close();
  await expect(agent.setModel("mine/one")).rejects.toThrow("the agent is closed");
});

test("a message holds pictures, which are checked and scaled; what is none is refused before it is said", async () => {
  const agent = await agentWith({ turns: [{ text: "A picture." }] });
  const data = pngOfRows(40, 30, 0);
  const large = pngOfRows(3000, 20, 0);
  const said = () => agent.log.events().filter(({ type }) => type === "user_message");
  for (const [message, why] of [
    [[], "needs a text that says something, or a picture"],
    [[{ type: "text", text: " " }], "needs a text that says something, or a picture"],
    [
      [{ type: "image", data: new Uint8Array([1, 2, 3]), name: "a.bin" }],
      "a.bin is no PNG, JPEG, GIF or WebP",
    ],
    [[{ type: "image", data: data.subarray(0, 60) }], "picture 1 is a damaged or incomplete image"],
    [[{ type: "image", data: "iVBOR" }], "part 1 of the message needs data, a Uint8Array"],
    [[{ type: "audio" }], "prompt: the message"],
    [[{ type: "text" }], "part 1 of the message needs text"],
    [7, "prompt: the message"],
  ] as const)
    await expect(agent.prompt(message as never), why).rejects.toThrow(why);
  expect(said()).toEqual([]);
  const message = [
    { type: "text", text: "Compare" },
    { type: "image", data: new Uint8Array(data), name: "small.png" },
    { type: "image", data: large },
  ] as const;
  const turn = agent.prompt(message);
  await expect(agent.prompt("Go on.")).rejects.toThrow("a turn is running");
  expect((await turn).text).toBe("A picture.");
  const [event] = said();
  const content = event?.type === "user_message" ? event.content : [];
  expect(content.map((block) => (block.type === "text" ? block.text : block.source.media_type))).toEqual([
    "Compare",
    `small.png: png image, 40x30, ${data.length} bytes`,
    "image/png",
    expect.stringMatching(/^picture 3: png image, 3000x20, \d+ bytes; shown at 2000x13$/),
    "image/png",
  ]);
});

test("a function is a model, and its failures end the turn", async () => {
  const { env, cwd } = tempWorkspace();
  const facts = { id: "mine/echo", window: 50_000 };
  const fails = (error: Error) => defineModel({ ...facts, send: () => Promise.reject(error) });
  const model = defineModel({
    ...facts,
    send: async ({ messages }) => ({ content: [{ type: "text", text: `${messages.length} message` }] }),
  });
  const end = async (one: typeof model) => {
    const agent = await createAgent({ env, cwd, model: one });
    onTestFinished(() => agent.close());
    return agent.prompt("Hello.");
  };
  expect(await end(model)).toMatchObject({ reason: "completed", text: "1 message", costUsd: 0 });
  const down = await end(fails(new ModelError("overloaded", "too many people")));
  expect(down).toMatchObject({ reason: "model_error", detail: expect.stringContaining("too many people") });
  const broken = await end(fails(new TypeError("x is not a function")));
  expect(broken).toMatchObject({ reason: "error", detail: "x is not a function" });
  expect(() => defineModel({ ...facts, id: "echo", send: model.send as never })).toThrow("provider/id");
});
