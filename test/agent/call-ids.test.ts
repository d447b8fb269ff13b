/** Some servers give one id to several calls; the next request may not hold it twice. */

import { expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { brokenRules } from "../../src/context/rules/request.ts";
import { isToolUse } from "../../src/core/blocks.ts";
import { noUsage } from "../../src/core/model-card.ts";
import { allOf } from "../../src/core/questions.ts";
import { testAgent } from "../support/agents.ts";
import { call, text } from "../support/logs.ts";

test("each call gets an id of its own, and the result of its own", async () => {
  const { agent, log } = testAgent({ turns: [] });
  const replies = [
    [call("c", "bash", { command: "one" }), call("c", "bash", { command: "two" })],
    [call("c", "bash", { command: "three" })],
    [text("done")],
  ];
  const sent: string[] = [];
  agent.model = {
    ...agent.model,
    async send(request) {
      expect(brokenRules(request)).toEqual([]);
      sent.push(JSON.stringify(request.messages));
      const content = replies[sent.length - 1] ?? [];
      const stopReason = content.some(isToolUse) ? "tool_use" : "end_turn";
      return { content, stopReason, usage: noUsage, model: "m" };
    },
  };
  expect(await runTurn(agent, new AbortController().signal)).toBe("completed");
  const ids = allOf(log.events(), "assistant_message").flatMap(({ content }) => content.filter(isToolUse));
  expect(ids.map(({ id }) => id)).toEqual(["c", "c_2", "c_3"]);
  const results = allOf(log.events(), "tool_result").map(({ toolUseId, content }) => [toolUseId, content]);
  expect(results).toEqual([
    ["c", "ran one"],
    ["c_2", "ran two"],
    ["c_3", "ran three"],
  ]);
});

test("our rules refuse a reply with an id twice, as the API does", () => {
  const twice = [call("c", "bash", {}), call("c", "bash", {})];
  const answers = twice.map(() => ({ type: "tool_result" as const, tool_use_id: "c", content: "out" }));
  const request = {
    ...{ model: "m", system: "", tools: [], cacheAfter: [], maxTokens: 1, thinking: "none" as const },
    messages: [
      { role: "user" as const, content: [text("go")] },
      { role: "assistant" as const, content: twice },
      { role: "user" as const, content: answers },
    ],
  };
  expect(brokenRules(request).map(({ rule, refusedByApi }) => [rule, refusedByApi])).toEqual([[1, true]]);
});
