/** Which thinking may be sent again, what an edit may touch, and how the question for a summary is put (invariants). */

import { describe, expect, test } from "vitest";
import { type Composed, composeRequest } from "../../../src/context/request/compose.ts";
import { summaryRequest } from "../../../src/context/request/summary-call.ts";
import { brokenRules, violationText } from "../../../src/context/rules/request.ts";
import { checkRequest, type PreviousRequest } from "../../../src/context/rules/sequence.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import { isThinking } from "../../../src/core/blocks.ts";
import type { ContextEdit, EventBody } from "../../../src/core/events.ts";
import {
  call,
  memoryLog,
  reply,
  result,
  started,
  testCard,
  thinking,
  twoSteps,
  user,
} from "../../support/logs.ts";

function edited(edit: ContextEdit, policy = "random"): EventBody {
  return { type: "context_edited", policy, reason: "", edits: [edit], economics: {} };
}

describe("thinking on a bound history", () => {
  const session = (): EventBody[] => [
    started(testCard("prefix_bound")),
    user("go"),
    ...[1, 2, 3, 4].flatMap((step) => [
      reply(thinking(`thought ${step};`), call(`c${step}`)),
      result(`c${step}`, `out ${step} ${"x".repeat(400)}`),
    ]),
  ];
  const heldAt = (
    bodies: EventBody[],
    spoil = (composed: Composed) => composed,
    before?: PreviousRequest,
  ) => {
    const events = memoryLog(bodies).events();
    const view = applyEvents(events);
    return checkRequest(spoil(composeRequest(events, view)), { events, view }, before);
  };
  /** The session once more, after an edit, with the thinking that `keeps` names. */
  const afterwards = (edit: ContextEdit, keeps: (at: number) => boolean) => {
    const events = memoryLog(session()).events();
    const before = checkRequest(composeRequest(events, applyEvents(events)), {
      events,
      view: applyEvents(events),
    }).current;
    const all = before.request.messages.flatMap(({ content }) => content.filter(isThinking));
    const bodies = [...events.map(({ seq: _, at: __, ...body }) => body as EventBody), edited(edit)];
    const put = (composed: Composed): Composed => {
      let step = 0;
      const messages = composed.request.messages.map((message) => {
        if (message.role !== "assistant") return message;
        const block = all[step];
        step += 1;
        const words = message.content.filter((each) => !isThinking(each));
        return block && keeps(step)
          ? { ...message, content: [block, ...words] }
          : { ...message, content: words };
      });
      return { ...composed, request: { ...composed.request, messages } };
    };
    return heldAt(bodies, put, before)
      .broken.filter(({ rule }) => rule === 3)
      .map(violationText);
  };
  const masked: ContextEdit = { type: "replace", seq: 5, block: 0, text: "masked" };
  const dropped: ContextEdit = { type: "drop_thinking", to: 4 };

  test("after an edit stays before it and is gone after it", () => {
    expect(afterwards(masked, (step) => step <= 2)).toEqual([]);
    expect(afterwards(masked, () => false)).toEqual([]);
    expect(afterwards(masked, (step) => step <= 3).join()).toMatch(
      /rule 3: messages.5.content.0: the thinking stands after/,
    );
  });

  test("goes from the start or from the end, never from the middle", () => {
    expect(afterwards(dropped, (step) => step > 2)).toEqual([]);
    expect(afterwards(dropped, (step) => step < 3)).toEqual([]);
    expect(afterwards(dropped, (step) => step !== 2).join()).toMatch(
      /rule 3: thinking was taken out of the middle/,
    );
  });

  test("never comes back, and drop_block stays once it was sent", () => {
    const first = heldAt([...session(), edited(masked)]);
    expect(first.current.request.blockBinding).toBe("drop_block");
    const events = memoryLog(session()).events();
    const whole = composeRequest(events, applyEvents(events));
    const again = checkRequest(
      whole,
      { events, view: applyEvents(events) },
      { ...first.current, events: events.length },
    );
    expect(again.broken.map(violationText).join()).toMatch(/rule 3: .*the thinking (came back|stands after)/);
    expect(again.broken.map(violationText).join()).toMatch(/rule 3: drop_block/);
  });
});

describe("edits", () => {
  const log = twoSteps;
  const brokenBy = (edit: ContextEdit, fold?: { objective: string }) => {
    const events = memoryLog([
      ...log(),
      { ...edited(edit), ...(fold ? { fold } : {}) } as EventBody,
    ]).events();
    const view = applyEvents(events);
    const before = { ...checkRequest(composeRequest(events, view), { events, view }).current, events: 6 };
    return checkRequest(composeRequest(events, view), { events, view }, before).broken.map(violationText);
  };

  test("of what no line of the log holds break rule 5", () => {
    expect(brokenBy({ type: "replace", seq: 3, block: 0, text: "x" })).toEqual([]);
    expect(brokenBy({ type: "replace", seq: 30, block: 0, text: "x" }).join()).toMatch(/rule 5: .* event 30/);
    expect(brokenBy({ type: "collapse", from: 2, to: 99, text: "x" }).join()).toMatch(/rule 5: .* event 99/);
  });

  test("of the person's words or the newest step break rule 6, save a fold's", () => {
    expect(brokenBy({ type: "replace", seq: 1, block: 0, text: "x" }).join()).toMatch(
      /rule 6: .* words of the person/,
    );
    expect(brokenBy({ type: "replace", seq: 5, block: 0, text: "x" }).join()).toMatch(
      /rule 6: .* newest step/,
    );
    expect(brokenBy({ type: "collapse", from: 2, to: 5, text: "x" }).join()).toMatch(
      /rule 6: .* newest step/,
    );
    expect(brokenBy({ type: "collapse", from: 3, to: 5, text: "x" }, { objective: "look" })).toEqual([]);
  });
});

test("the question for a summary breaks no rule, though a reminder stands at the end", () => {
  const scoped: EventBody = { type: "reminder", channel: "turn_scoped", text: "remember" };
  const bodies = [started(testCard("prefix_bound")), user("go"), reply(call("a")), result("a"), scoped];
  const events = memoryLog(bodies).events();
  const request = summaryRequest(events, applyEvents(events), { question: "Write a handoff." });
  expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "system"]);
  expect(brokenRules(request)).toEqual([]);
});
