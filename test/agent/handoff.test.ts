import { describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { contextSizes } from "../../src/context/report/curve.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { ModelError } from "../../src/core/ports.ts";
import { allOf, lastOf } from "../../src/core/questions.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { todoTool } from "../../src/tools/session/todo.ts";
import { fakeTool, type TestAgent, testAgent } from "../support/agents.ts";
import { user } from "../support/logs.ts";

const never = new AbortController().signal;
const isSummary = (request: ModelRequest) =>
  JSON.stringify(request.messages.at(-1)).includes("Write a handoff.");
const items = [1, 2, 3, 4].map((n) => ({ text: `item ${n}`, status: n === 4 ? "open" : "done" }));

/** Forty steps of work, summarised every few; `summary` answers the summary calls. */
function busyAgent(
  summary: (index: number) => ScriptedReply,
  engine: Record<string, number> = {},
): TestAgent {
  let step = 0;
  let summaries = 0;
  const turns = (request: ModelRequest): ScriptedReply => {
    if (isSummary(request)) return summary(summaries++);
    step += 1;
    if (step === 1) return { calls: [{ todo: { items } }] };
    if (step === 2) return { calls: [{ bash: { command: "touch it", wrote: "/w/app/port.ts" } }] };
    if (step % 20 === 0) return { text: "resting" };
    return { thinking: `think ${step}`, calls: [{ bash: { command: `make check # ${step}` } }] };
  };
  const bash = fakeTool("bash", ({ command, wrote }) => ({
    content: `${command}\n${"some output\n".repeat(60)}`,
    isError: !wrote,
    stats: wrote ? { wrote: [String(wrote)] } : { exitCode: 2 },
  }));
  const made = testAgent({
    turns,
    context: "summary",
    prompt: "Goal GOAL-91: make `make check` pass. Never touch `vendor/`. Use tabs.",
    engine: { window: 24_000, summaryTurns: 4, summaryKeep: 3, ...engine },
    tools: [bash],
  });
  made.agent.tools.push(todoTool({ description: "", file: `${made.agent.artifacts.folder}/todo.md` }));
  return made;
}

/** The requests that went out right after a summary was put in place. */
function afterSummaries({ requests, log }: TestAgent): string[] {
  const steps: string[] = [];
  let pending = false;
  const sent = requests.filter((request) => !isSummary(request));
  let step = 0;
  for (const event of log.events()) {
    if (event.type === "context_edited" && event.policy === "summary") pending = true;
    if (event.type !== "model_request") continue;
    if (pending) steps.push(JSON.stringify(sent[step]?.messages));
    pending = false;
    step += 1;
  }
  return steps;
}

const summariesOf = (events: readonly LogEvent[]) => allOf(events, "summary_call");

describe("a handoff", () => {
  test.each([
    ["a reply as long as its input", () => ({ text: "word ".repeat(20_000) })],
    ["an empty reply", () => ({ text: " " })],
    ["a reply that calls a tool", () => ({ calls: [{ bash: { command: "ls" } }] })],
    ["a reply that names a path from nowhere", () => ({ text: "see /etc/made/up.conf" })],
    ["a reply cut by its length", () => ({ text: "Decisions:", stop: "max_tokens" })],
  ])("%s is not used, and the mechanical part stands alone", async (_, summary) => {
    const made = busyAgent(summary);
    expect(await runTurn(made.agent, never)).toBe("completed");
    expect(summariesOf(made.log.events())[0]?.outcome).toBe("rejected");
    const body = afterSummaries(made)[0] ?? "";
    expect(body).toContain("[x] item 3");
    expect(body).not.toContain("What you wrote");
  });

  test("a summary call that fails ten times costs two calls in ten steps at most, and work goes on", async () => {
    const made = busyAgent(() => ({ text: "never used" }));
    const send = made.agent.model.send;
    made.agent.model.send = async (request, ...rest) => {
      if (isSummary(request)) throw new ModelError("server", "internal server error", { status: 500 });
      return send(request, ...rest);
    };
    expect(await runTurn(made.agent, never)).toBe("completed");
    const events = made.log.events();
    expect(summariesOf(events).every((event) => event.outcome === "failed")).toBe(true);
    const steps = allOf(events, "model_request").length;
    expect(summariesOf(events).length).toBeLessThanOrEqual(Math.ceil(steps / 10) * 2);
  });

  test("an interruption during the summary leaves the history as it was", async () => {
    const made = busyAgent(() => ({ text: "late" }));
    const controller = new AbortController();
    const send = made.agent.model.send;
    made.agent.model.send = async (request, body, onPart, signal) => {
      if (!isSummary(request)) return send(request, body, onPart, signal);
      controller.abort("user");
      throw new ModelError("aborted", "interrupted");
    };
    expect(await runTurn(made.agent, controller.signal)).toBe("interrupted");
    expect(allOf(made.log.events(), "context_edited")).toEqual([]);
  });
});

test("a session on a small window never overflows and still holds what every user message said", async () => {
  const made = busyAgent(() => ({ text: "Decisions: none." }), { window: 9_000, summaryTurns: 400 });
  for (let turn = 1; turn <= 20; turn++) {
    made.log.append(user(`order ${turn}: ORDER-${turn}!`));
    expect(await runTurn(made.agent, never)).toBe("completed");
  }
  expect(Math.max(...contextSizes(made.log.events()))).toBeLessThanOrEqual(9_000);
  const edits = allOf(made.log.events(), "context_edited");
  expect(edits.length).toBeGreaterThan(5);
  for (const edit of edits) expect(Number(edit.economics.removedTokens)).toBeGreaterThan(1_000);
  const last = JSON.stringify(made.requests.at(-1)?.messages);
  for (let turn = 1; turn <= 20; turn++) expect(last).toContain(`ORDER-${turn}!`);
  expect(lastOf(made.log.events(), "turn_ended")?.reason).toBe("completed");
});
