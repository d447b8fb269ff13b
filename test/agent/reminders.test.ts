import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import type { Channel } from "../../src/context/reminders/wording.ts";
import { requestOfStep } from "../../src/context/request/compose.ts";
import { brokenRules } from "../../src/context/rules/request.ts";
import { ModelError } from "../../src/core/ports.ts";
import { allOf } from "../../src/core/questions.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { fakeTool } from "../support/agents.ts";
import { testCard, user } from "../support/logs.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";
import { withOwnTools } from "../support/own-tools.ts";

const never = new AbortController().signal;
const bash = (command: string) => ({ bash: { command } });
const items = (...tasks: [text: string, status: string][]) => ({
  todo: { items: tasks.map(([text, status]) => ({ text, status })) },
});

let server: MockServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const says = (request: ModelRequest | undefined) => JSON.stringify(request?.messages);

describe("reminders in a session of forty steps", () => {
  const turns: ScriptedReply[] = [
    { thinking: "plan", calls: [items(["find it", "active"], ["fix it", "open"])] },
    ...Array.from({ length: 38 }, (_, index) => ({
      thinking: `why ${index}`,
      calls: [bash(`look ${index}`), ...(index % 3 ? [] : [bash(`count ${index}`)])],
    })),
    { text: "done" },
  ];
  const withReminders = (history: "free" | "prefix_bound", reminders: Channel) =>
    [history, { contract: { ...testCard(history).contract, reminders } }] as Parameters<typeof testCard>;

  test.each([
    ["free", "tail"],
    ["free", "logged"],
    ["prefix_bound", "turn_scoped"],
    ["prefix_bound", "logged"],
  ] as const)(
    "on a %s history by %s: valid, rebuilt from the log, only ever added to",
    async (history, channel) => {
      const { agent, log, requests } = withOwnTools({ turns, card: withReminders(history, channel) });
      expect(await runTurn(agent, never)).toBe("completed");
      const reminders = allOf(log.events(), "reminder");
      expect(reminders.length).toBeGreaterThan(3);
      expect(new Set(reminders.flatMap((event) => event.about))).toEqual(new Set(["todo", "focus"]));
      expect(new Set(reminders.map((event) => event.channel))).toEqual(new Set([channel]));
      expect(new Set(reminders.map((event) => event.text)).size).toBeGreaterThan(2);
      requests.forEach((request, index) => {
        expect(brokenRules(request)).toEqual([]);
        expect(requestOfStep(log.events(), index + 1)?.request).toEqual(request);
        const next = requests[index + 1];
        if (next) expect(JSON.stringify(next.messages).startsWith(lasting(request, channel))).toBe(true);
      });
    },
  );

  test("at the tail they stand behind the last cache breakpoint, in one request each", async () => {
    const { agent, log, requests } = withOwnTools({ turns, card: withReminders("free", "tail") });
    await runTurn(agent, never);
    const reminded = requests.filter((request) => says(request).includes("<reminder>"));
    expect(reminded).toHaveLength(allOf(log.events(), "reminder").length);
    for (const { messages, cacheAfter } of reminded) {
      const [last, point] = [messages.at(-1)?.content ?? [], cacheAfter.at(-1)];
      expect(last.at(-1)).toMatchObject({ type: "text", text: expect.stringMatching(/^<reminder>/) });
      expect(point).toMatchObject({ message: messages.length - 1, block: last.length - 2 });
    }
  });

  test("a model that takes no system messages gets none of those that the model before it got", async () => {
    const { agent, log, requests } = withOwnTools({
      turns,
      card: withReminders("prefix_bound", "turn_scoped"),
    });
    await runTurn(agent, never);
    log.append({ type: "model_changed", model: testCard("free", { id: "anthropic/other" }) });
    log.append(user("go on"));
    await runTurn({ ...agent, limits: { maxTurns: 41 } }, never);
    expect(requests.at(-1)?.model).toBe("anthropic/other");
    expect(requests.at(-1)?.messages.filter((message) => message.role === "system")).toEqual([]);
  });

  test("what the person says after a failed request comes before the reminder that it held", async () => {
    const { agent, log, requests } = withOwnTools({ turns: [{ text: "done" }], card: ["prefix_bound"] });
    const { send } = agent.model;
    agent.model.send = async (request) => {
      requests.push(structuredClone(request));
      throw new ModelError("server", "down");
    };
    const limited = { ...agent, limits: { maxTurns: 1 } };
    expect(await runTurn(limited, never)).toBe("model_error");
    agent.model.send = send;
    log.append(user("once more"));
    expect(await runTurn(limited, never)).toBe("completed");
    // The API takes a system message only at the end or before a reply.
    expect(requests[1]?.messages.map((message) => message.role)).toEqual(["user", "system"]);
    expect(requests[1]?.messages[1]).toEqual(requests[0]?.messages[1]);
    expect(requests[1]?.messages[0]?.content.slice(0, 1)).toEqual(requests[0]?.messages[0]?.content);
    expect(brokenRules(requests[1] as ModelRequest)).toEqual([]);
  });

  /** How the messages begin the next request: without their last bracket, and without what is at the tail. */
  function lasting({ messages }: ModelRequest, channel: Channel): string {
    const isTail = (block: object) => "text" in block && String(block.text).startsWith("<reminder>");
    const kept = messages.map((message) => ({
      ...message,
      content: message.content.filter((block) => channel !== "tail" || !isTail(block)),
    }));
    return JSON.stringify(kept).slice(0, -1);
  }

  test.each(["claude-sonnet-5-5", "claude-sonnet-4-6"])(
    "with %s the strict server refuses nothing and the cache never misses",
    async (id) => {
      const { card } = findCard(`anthropic/${id}`);
      server = await startMockServer({ turns });
      const { agent, log } = withOwnTools({ turns: [], realCard: card });
      agent.model = anthropicModel({ card, apiKey: "k", baseUrl: server.url });
      expect(await runTurn(agent, never)).toBe("completed");
      expect(server.exchanges.filter((exchange) => exchange.status !== 200)).toEqual([]);
      expect(allOf(log.events(), "reminder").length).toBeGreaterThan(3);
      expect(allOf(log.events(), "warning")).toEqual([]);
      const usages = allOf(log.events(), "assistant_message").map((event) => event.usage);
      const late = usages.slice(20);
      late.forEach((usage, index) => {
        expect(usage.cacheReadTokens).toBeGreaterThan(usages[index + 19]?.cacheReadTokens ?? 0);
        expect(usage.inputTokens).toBeLessThan(100);
      });
    },
  );
});

describe("the person's own changes to the task list", () => {
  test("are told with the next step, stay in the history, and are what is recited from then on", async () => {
    const turns: ScriptedReply[] = [
      { calls: [items(["one", "active"])] },
      { calls: [bash("edit")] },
      ...Array.from({ length: 9 }, (_, step) => ({ calls: [bash(`look ${step}`)] })),
      { calls: [items(["one", "done"], ["and two", "done"])] },
      { text: "done" },
    ];
    const made = withOwnTools({
      turns,
      tools: [
        fakeTool("bash", ({ command }) => {
          if (command === "edit") writeFileSync(made.todoFile, "- [ ] one\n- [ ] and two\n");
          return { content: `ran ${command}` };
        }),
      ],
    });
    expect(await runTurn(made.agent, never)).toBe("completed");
    const [told, recited] = allOf(made.log.events(), "reminder");
    expect(told).toMatchObject({
      channel: "logged",
      about: ["todo_changed"],
      todo: "- [ ] one\n- [ ] and two\n",
    });
    expect(recited).toMatchObject({ channel: "tail", about: ["todo"] });
    expect(recited?.text).toContain("- [ ] and two");
    expect(says(made.requests[1])).not.toContain("and two");
    expect(says(made.requests[2])).toContain("and two");
    expect(says(made.requests.at(-1))).toContain(JSON.stringify(told?.text).slice(1, -1));
    expect(readFileSync(made.todoFile, "utf8")).toBe("- [x] one\n- [x] and two\n");
  });

  test("lose nothing when the model writes its list in the same step", async () => {
    const turns: ScriptedReply[] = [
      { calls: [items(["one", "active"])] },
      { calls: [bash("edit"), items(["one", "done"])] },
      { calls: [items(["one", "done"], ["and two", "open"])] },
      { text: "done" },
    ];
    const made = withOwnTools({
      turns,
      tools: [
        fakeTool("bash", () => {
          writeFileSync(made.todoFile, "- [ ] and two\n");
          return { content: "edited" };
        }),
      ],
    });
    await runTurn(made.agent, never);
    const lists = allOf(made.log.events(), "tool_result").filter((event) => event.toolName === "todo");
    expect(lists.map((event) => event.isError)).toEqual([false, true, false]);
    expect(readFileSync(made.todoFile, "utf8")).toBe("- [x] one\n- [ ] and two\n");
  });

  test("reach the model without secrets", async () => {
    const made = withOwnTools({ turns: [{ text: "done" }] });
    made.agent.redact = (text) => text.replaceAll("hunter22222", "[redacted:PASSWORD]");
    writeFileSync(made.todoFile, "- [ ] log in with hunter22222\n");
    await runTurn(made.agent, never);
    expect(says(made.requests[0])).toContain("[redacted:PASSWORD]");
    expect(JSON.stringify(made.log.events())).not.toContain("hunter22222");
  });
});
