import { describe, expect, test } from "vitest";
import { focusPolicy } from "../../../src/context/policies/focus.ts";
import { policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { composeRequest } from "../../../src/context/request/compose.ts";
import { brokenRules } from "../../../src/context/rules/request.ts";
import { applyEvents, viewReader } from "../../../src/context/view/view.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import {
  call,
  memoryLog,
  reply,
  result,
  started,
  testCard,
  text,
  thinking,
  twoSteps,
  user,
} from "../../support/logs.ts";

function requestOf(bodies: EventBody[]) {
  const events = memoryLog(bodies).events();
  return composeRequest(events, applyEvents(events)).request;
}

/** Runs the focus policy over a log and appends what it plans. */
function folded(bodies: EventBody[]): readonly LogEvent[] {
  const log = memoryLog(bodies);
  const { plan } = focusPolicy.plan(policyInputOf(log.events(), applyEvents(log.events()), 0));
  if (plan) log.append({ type: "context_edited", ...plan });
  return log.events();
}

const closeInput = { attempted: "grep", learned: "cause is in a.js:12", outcome: "fix it" };
const focusSession = (card = testCard()): EventBody[] => [
  started(card),
  user("find it"),
  reply(thinking("plan"), call("s", "start_focus", { objective: "find the cause" })),
  result("s", "Focus opened", "start_focus"),
  reply(thinking("look"), call("a")),
  result("a", "x".repeat(4000)),
  user("mind the tabs"),
  reply(thinking("close"), call("c", "complete_focus", closeInput)),
  result("c", "Focus closed.", "complete_focus"),
];

describe("messages of a log", () => {
  test("are the same objects from one request to the next, and what comes later changes none of them", () => {
    const log = memoryLog(twoSteps());
    const reader = viewReader();
    const compose = () => {
      return composeRequest(log.events(), reader.read(log.events())).request.messages;
    };
    const [first, before] = [compose(), structuredClone(compose())];
    // A reply of thinking alone is left out, so that the person's words join the results before them.
    for (const body of [reply(thinking("hm")), user("go on"), reply(call("c")), result("c")])
      log.append(body);
    const second = compose();
    expect(second.map(({ role }) => role)).toEqual([...first.map(({ role }) => role), "assistant", "user"]);
    expect(second[1]).toBe(first[1]);
    expect(second[4]?.content).toHaveLength(2);
    expect(first).toEqual(before);
    log.append({
      type: "context_edited",
      policy: "masking",
      reason: "test",
      edits: [{ type: "replace", seq: 3, block: 0, text: "[gone]" }],
      economics: {},
    });
    expect(JSON.stringify(compose()[2])).toContain("[gone]");
    expect(compose()[4]).toEqual(second[4]);
  });

  test("every call of a reply is answered once, in order, before any text", () => {
    const { messages } = requestOf([
      started(),
      user("go"),
      reply(call("a"), call("b")),
      result("b"),
      user("also this"),
      result("a"),
    ]);
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
    expect(
      messages[2]?.content.map((block) => ("tool_use_id" in block ? block.tool_use_id : block.type)),
    ).toEqual(["a", "b", "text"]);
  });

  test("a call that never got a result is closed, and the next message keeps its text", () => {
    const request = requestOf([
      started(),
      user("go"),
      reply(call("a"), call("b")),
      result("a"),
      user("continue"),
    ]);
    expect(brokenRules(request)).toEqual([]);
    const last = request.messages.at(-1)?.content ?? [];
    expect(last[1]).toMatchObject({ type: "tool_result", tool_use_id: "b", is_error: true });
    expect(JSON.stringify(last[1])).toContain("[interrupted]");
    expect(last[2]).toEqual({ type: "text", text: "continue" });
  });

  test("a result whose call is not in the log is left out", () => {
    const request = requestOf([started(), user("go"), result("ghost"), user("more")]);
    expect(JSON.stringify(request.messages)).not.toContain("ghost");
    expect(brokenRules(request)).toEqual([]);
  });

  test("a reply of thinking alone is left out, so that no message is without content", () => {
    const request = requestOf([started(), user("go"), reply(thinking("hm")), user("again")]);
    expect(request.messages).toHaveLength(1);
    expect(brokenRules(request)).toEqual([]);
  });

  test("a reminder for one request goes before a reminder in a system message, as after a change of model", () => {
    const request = requestOf([
      started(testCard("prefix_bound")),
      user("go"),
      reply(call("a")),
      result("a"),
      { type: "reminder", channel: "tail", text: "once" },
      { type: "reminder", channel: "turn_scoped", text: "this turn" },
    ]);
    expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "system"]);
    expect(request.messages[2]?.content.at(-1)).toEqual({ type: "text", text: "once" });
  });

  test("thinking, text and calls of a reply go back exactly as they came", () => {
    const content = [thinking("deep"), text("I look"), call("a")];
    const request = requestOf([started(), user("go"), reply(...content), result("a")]);
    expect(request.messages[1]?.content).toEqual(content);
  });
});

describe("folding a focus in place", () => {
  test("the span becomes the result of start_focus, and what the user said in it stays", () => {
    const events = folded(focusSession());
    const { request } = composeRequest(events, applyEvents(events));
    expect(request.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
    const [knowledge, words] = request.messages[2]?.content ?? [];
    expect(knowledge).toMatchObject({ type: "tool_result", tool_use_id: "s" });
    expect(JSON.stringify(knowledge)).toContain("cause is in a.js:12");
    expect(words).toEqual({ type: "text", text: "mind the tabs" });
    expect(JSON.stringify(request)).not.toContain("xxxx");
    expect(brokenRules(request)).toEqual([]);
  });

  test("the messages before the checkpoint keep their bytes", () => {
    const before = requestOf(focusSession().slice(0, 4)).messages.slice(0, 2);
    const events = folded(focusSession());
    expect(composeRequest(events, applyEvents(events)).request.messages.slice(0, 2)).toEqual(before);
  });

  test("it is legal on a prefix-bound model without dropping any thinking", () => {
    const events = folded(focusSession(testCard("prefix_bound")));
    const { request } = composeRequest(events, applyEvents(events));
    expect(request.blockBinding).toBeUndefined();
    expect(request.messages[1]?.content[0]).toEqual(thinking("plan"));
  });

  test("it is planned once", () => {
    const events = folded(focusSession());
    expect(focusPolicy.plan(policyInputOf(events, applyEvents(events), 0))).toEqual({});
  });

  test("a refused complete_focus folds nothing", () => {
    const bodies = focusSession().slice(0, -1);
    const events = folded([...bodies, result("c", "must be alone", "complete_focus", true)]);
    expect(events.some((event) => event.type === "context_edited")).toBe(false);
  });
});

describe("edits in the middle", () => {
  const edited = (card = testCard()): EventBody[] => [
    started(card),
    user("go"),
    reply(thinking("one"), call("a")),
    result("a", "long"),
    reply(thinking("two"), call("b")),
    result("b"),
    {
      type: "context_edited",
      policy: "masking",
      reason: "test",
      edits: [{ type: "replace", seq: 3, block: 0, text: "[omitted]" }],
      economics: {},
    },
    reply(thinking("three"), call("c")),
    result("c"),
  ];

  test("a free history keeps all thinking", () => {
    const body = JSON.stringify(requestOf(edited()).messages);
    expect(body).toContain("[omitted]");
    expect(body).not.toContain("long");
    for (const word of ["one", "two", "three"]) expect(body).toContain(`"thinking":"${word}"`);
  });

  test("a prefix-bound history loses the thinking between the edit and now, and asks for drop_block", () => {
    const request = requestOf(edited(testCard("prefix_bound")));
    const body = JSON.stringify(request.messages);
    expect(body).toContain('"thinking":"one"');
    expect(body).not.toContain('"thinking":"two"');
    expect(body).toContain('"thinking":"three"');
    expect(request.blockBinding).toBe("drop_block");
  });

  test("a bound model gets no thinking of another; a free one passes over it, and a loop of its kind needs it", () => {
    const changedTo = (history: "free" | "prefix_bound", id: string) =>
      requestOf([...edited(), { type: "model_changed", model: testCard(history, { id }) }, user("go on")]);
    expect(JSON.stringify(changedTo("prefix_bound", "anthropic/other").messages)).not.toContain("thinking");
    expect(JSON.stringify(changedTo("free", "anthropic/other").messages)).toContain("thinking");
  });

  test("a change of effort alone changes no history", () => {
    const bound = edited(testCard("prefix_bound"));
    const changed = { type: "model_changed", model: testCard("prefix_bound"), effort: "high" } as const;
    const { messages, blockBinding } = requestOf([...bound, user("go on")]);
    expect(requestOf([...bound, changed, user("go on")])).toMatchObject({
      messages,
      blockBinding,
      effort: "high",
    });
  });
});

test("folding event by event gives the view of folding all at once", () => {
  const events = folded(focusSession(testCard("prefix_bound")));
  const reader = viewReader();
  for (let count = 1; count < events.length; count++) reader.read(events.slice(0, count));
  const view = reader.read(events);
  expect({ ...view, unchanged: 0 }).toEqual({ ...applyEvents(events), unchanged: 0 });
});

test("several edits of one event name the blocks that they were planned on, though thinking goes with them", () => {
  const file = { command: "create", path: "a.ts", file_text: "x".repeat(800) };
  const long = { command: "y".repeat(800) };
  const events = memoryLog([
    started(testCard("prefix_bound")),
    user("go"),
    reply(call("a")),
    result("a", "long ".repeat(200)),
    reply(thinking("so"), call("e", "str_replace_editor", file), call("b", "bash", long)),
    result("e"),
    result("b"),
    reply(call("c")),
    result("c"),
    {
      type: "context_edited",
      policy: "fallback",
      reason: "test",
      edits: [
        { type: "replace", seq: 3, block: 0, text: "[omitted]" },
        { type: "replace", seq: 4, block: 1, text: "on disk" },
      ],
      economics: {},
    },
  ]).events();
  const [edit, bash] = applyEvents(events).entries.find((entry) => entry.seq === 4)?.blocks ?? [];
  expect(edit).toMatchObject({ name: "str_replace_editor", input: { path: "a.ts", omitted: "on disk" } });
  expect(bash).toMatchObject({ name: "bash", input: long });
});
