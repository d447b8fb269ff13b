/**
 * A request that would be refused never ends a session: the history is mended, or the turn ends and says which rule.
 */

import { expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { checkOrRepair } from "../../src/agent/repair.ts";
import { composeRequest } from "../../src/context/request/compose.ts";
import { applyEvents } from "../../src/context/view/view.ts";
import { allOf, lastOf } from "../../src/core/questions.ts";
import { testAgent } from "../support/agents.ts";
import { call, reply, result, text, user } from "../support/logs.ts";

const never = new AbortController().signal;

test("a log that ends with a reply is put together anew, and the work goes on", async () => {
  const { agent, log, requests } = testAgent({ turns: [{ text: "done" }], prompt: "mend it" });
  for (const body of [reply(call("a")), result("a"), reply(text("half done"))]) log.append(body);
  expect(await runTurn(agent, never)).toBe("completed");
  expect(allOf(log.events(), "warning").map((event) => event.text)).toEqual([
    expect.stringMatching(/rule 2: messages.3: the last message is the assistant's.*rebuilt from the log/),
  ]);
  expect(requests).toHaveLength(1);
  expect(JSON.stringify(requests[0]?.messages)).toContain("mend it");
  expect(JSON.stringify(requests[0]?.messages)).toContain("[Handoff:");
  log.append(user("and more"));
  expect(await runTurn({ ...agent, limits: { maxTurns: 9 } }, never)).not.toBe("error");
});

test("what cannot be mended ends the turn, names the rule, and throws nothing, now and at the next try", async () => {
  const { agent, log, requests } = testAgent({ turns: [{ text: "done" }] });
  log.append(user("half a sign: \ud83d"));
  for (const _ of [1, 2]) expect(await runTurn(agent, never)).toBe("error");
  expect(lastOf(log.events(), "turn_ended")?.detail).toMatch(/rule 2: messages.0: text is not valid Unicode/);
  expect(requests).toEqual([]);
});

test("a breakpoint that cannot stand costs the cache of one request, not the session", () => {
  const { agent, log } = testAgent({ turns: [] });
  const view = applyEvents(log.events());
  const composed = composeRequest(log.events(), view);
  const cacheAfter = composed.request.cacheAfter.toReversed();
  const kept = checkOrRepair(agent, { ...composed, request: { ...composed.request, cacheAfter } }, view);
  expect(kept.composed?.request).toEqual({ ...composed.request, cacheAfter: [] });
  expect(allOf(log.events(), "warning").map((event) => event.text)).toEqual([
    expect.stringMatching(/rule 8/),
  ]);
  expect(checkOrRepair(agent, composed, view).composed).toBe(composed);
});
