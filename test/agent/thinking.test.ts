/** Thinking over a whole session (T32): interruptions, refusals, other models and other providers in between. */

import { afterEach, describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { applyEvents } from "../../src/context/view/view.ts";
import { isThinking } from "../../src/core/blocks.ts";
import type { EventLog } from "../../src/core/ports.ts";
import { allOf } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import { openaiModel } from "../../src/models/openai/openai.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { type Composing, fakeTool, testAgent } from "../support/agents.ts";
import { memoryLog, user } from "../support/logs.ts";
import { startOpenaiServer } from "../support/mock-openai.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";

const bound = "claude-sonnet-5-5";
const free = "claude-sonnet-5";
const look = (step: string): ScriptedReply => ({
  thinking: `why ${step}`,
  calls: [{ bash: { command: `look ${step}` } }],
});

let server: MockServer | undefined;
afterEach(() => server?.close());

type Session = { agent: Composing; log: EventLog; stop: { now(): void } };

/** A session on `id`. `stop.now` interrupts the turn that runs. */
async function session(
  id: string,
  turns: ScriptedReply[],
): Promise<Session & { server: MockServer; say(words: string): Promise<string> }> {
  const { card } = findCard(`anthropic/${id}`);
  server = await startMockServer({ turns });
  const stop = { now: () => {} };
  const bash = fakeTool("bash", ({ command }) => {
    if (String(command).includes("stop")) stop.now();
    return { content: `saw ${command} ${"word ".repeat(100)}` };
  });
  const { agent, log } = testAgent({ turns: [], tools: [bash], realCard: card });
  const live: Composing = { ...agent, model: anthropicModel({ card, apiKey: "k", baseUrl: server.url }) };
  const say = (words: string) => {
    const controller = new AbortController();
    stop.now = () => controller.abort();
    if (words) log.append(user(words));
    return runTurn(live, controller.signal);
  };
  return { agent: live, log, stop, server, say };
}

/** From here on the session goes on with another Claude model, as `--model` does it. */
function change({ agent, log }: Session, id: string): void {
  const { card } = findCard(`anthropic/${id}`);
  log.append({ type: "model_changed", model: card });
  agent.model = anthropicModel({ card, apiKey: "k", baseUrl: server?.url ?? "" });
}

const refusedSignature: ScriptedReply = {
  fault: {
    status: 400,
    body: {
      type: "error",
      error: {
        type: "invalid_request_error",
        message:
          "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
      },
    },
  },
};
const statuses = ({ exchanges }: MockServer) => exchanges.map(({ error, status }) => error ?? status);

describe.each([free, bound])("on %s", (id) => {
  test("it goes back byte for byte, a begun one is never kept, and a session resumed from its file goes on", async () => {
    const made = await session(id, [
      look("one"),
      { ...look("two"), fault: { silentAfterEvents: 6 } },
      look("three"),
      { thinking: "enough", text: "done" },
    ]);
    made.agent.onPart = (part) => {
      if (part.type === "thinking_delta" && allOf(made.log.events(), "assistant_message").length === 1)
        made.stop.now();
    };
    expect(await made.say("")).toBe("interrupted");
    const stored = allOf(made.log.events(), "assistant_message").flatMap(({ content }) =>
      content.filter(isThinking),
    );
    expect(stored.every((block) => block.type === "thinking" && block.signature.length > 0)).toBe(true);
    // A resume reads the log anew, so nothing hangs on the objects of the first run.
    const again = memoryLog(JSON.parse(JSON.stringify(made.log.events())));
    made.agent.log = again;
    again.append(user("go on"));
    expect(await runTurn(made.agent, new AbortController().signal)).toBe("completed");
    expect(statuses(made.server)).toEqual([200, 200, 200, 200]);
    const [first] = stored;
    for (const body of made.server.rawBodies.slice(2)) expect(body).toContain(JSON.stringify(first));
    expect(allOf(again.events(), "warning")).toEqual([]);
  });

  test("a refused signature costs one warning and one more request", async () => {
    const made = await session(id, [
      look("one"),
      look("two"),
      refusedSignature,
      look("three"),
      { text: "done" },
    ]);
    expect(await made.say("")).toBe("completed");
    expect(made.server.exchanges.map(({ status }) => status)).toEqual([200, 200, 400, 200, 200]);
    expect(allOf(made.log.events(), "warning").map(({ text }) => text)).toEqual([
      expect.stringMatching(/refused a thinking signature: all thinking was left out/),
    ]);
  });

  test("a signature that is refused for ever does not end the session: it is put together anew", async () => {
    const made = await session(id, [look("one"), refusedSignature, refusedSignature, { text: "done" }]);
    expect(await made.say("")).toBe("completed");
    expect(made.server.exchanges.map(({ status }) => status)).toEqual([200, 400, 400, 200]);
    expect(made.server.rawBodies.at(-1)).toContain("[Handoff:");
    expect(made.server.rawBodies.at(-1)).toContain('"text":"go"');
  });
});

describe("another model in the middle of a running tool loop", () => {
  test.each([
    ["bound, free, bound", [bound, free, bound]],
    ["free, bound, free", [free, bound, free]],
    ["bound, another bound, free", [bound, "claude-opus-5-5", free]],
  ])("%s: each takes what it gets", async (_title, [first = "", second = "", third = ""]) => {
    const stopping = (step: string): ScriptedReply => look(`stop ${step}`);
    const made = await session(first, [
      look("one"),
      stopping("two"),
      stopping("three"),
      look("four"),
      { thinking: "enough", text: "done" },
    ]);
    expect(await made.say("")).toBe("interrupted");
    change(made, second);
    expect(await made.say("go on")).toBe("interrupted");
    change(made, third);
    expect(await made.say("and on")).toBe("completed");
    expect(statuses(made.server)).toEqual([200, 200, 200, 200, 200]);
    expect(allOf(made.log.events(), "warning")).toEqual([]);
  });

  test("the thinking that an edit took on a bound model is there again for a free one that asks for it", async () => {
    const made = await session(bound, [look("one"), look("two"), look("stop"), { text: "done" }]);
    expect(await made.say("")).toBe("interrupted");
    const result = allOf(made.log.events(), "tool_result")[0];
    const edits = [{ type: "replace" as const, seq: result?.seq ?? 0, block: 0, text: "[masked]" }];
    made.log.append({ type: "context_edited", policy: "masking", reason: "", edits, economics: {} });
    const newest = () => applyEvents(made.log.events()).entries.findLast(({ role }) => role === "assistant");
    expect(newest()?.blocks.filter(isThinking)).toEqual([]);
    change(made, free);
    expect(newest()?.blocks.filter(isThinking)).toHaveLength(1);
    const view = applyEvents(made.log.events());
    expect(view.tokens).toBe(view.entries.reduce((sum, entry) => sum + entry.tokens, 0));
    expect(await made.say("go on")).toBe("completed");
    expect(statuses(made.server)).toEqual([200, 200, 200, 200]);
  });

  test("through a free model and back before it says anything", async () => {
    const made = await session(free, [look("one"), look("stop"), { text: "done" }]);
    expect(await made.say("")).toBe("interrupted");
    change(made, bound);
    change(made, free);
    expect(await made.say("go on")).toBe("completed");
    expect(statuses(made.server)).toEqual([200, 200, 200]);
  });
});

test.each([free, bound])("%s, then OpenAI's, then the first again: nobody is refused", async (id) => {
  const made = await session(id, [
    look("one"),
    look("stop"),
    look("three"),
    { thinking: "so", text: "done" },
  ]);
  expect(await made.say("")).toBe("interrupted");
  const args = JSON.stringify({ command: "look stop there" });
  const openai = await startOpenaiServer(
    { text: "Let me see.", calls: [{ id: "functions.bash:0", name: "bash", args }] },
    { text: "unused" },
  );
  const { card } = findCard("openai/gpt-6.1-sol");
  made.log.append({ type: "model_changed", model: card });
  made.agent.model = openaiModel({ card, apiKey: "k", baseUrl: openai.url });
  expect(await made.say("go on")).toBe("interrupted");
  expect(openai.received.map(({ refused }) => refused)).toEqual([undefined]);
  expect(JSON.stringify(openai.requests)).not.toContain("why one");
  await openai.close();
  change(made, id);
  expect(await made.say("back")).toBe("completed");
  expect(statuses(made.server)).toEqual([200, 200, 200, 200]);
});
