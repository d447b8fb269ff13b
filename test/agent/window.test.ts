import { describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { policyStack } from "../../src/context/policies/stacks.ts";
import { contextSizes } from "../../src/context/report/curve.ts";
import { allOf, lastOf } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import { todoTool } from "../../src/tools/session/todo.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { user } from "../support/logs.ts";
import { startMockServer } from "../support/mock-server.ts";
import { sized } from "../support/size.ts";

const never = new AbortController().signal;
const bash = (command: string) => ({ bash: { command } });
const large = fakeTool("bash", () => ({
  content: "a line of output that is forty bytes long\n".repeat(400),
}));

describe("a window that fills up", () => {
  test("without policies nothing is forgotten: the turn ends with an explanation before a request would not fit", async () => {
    const card = { window: 40_000 };
    const made = testAgent({
      turns: (_, index) => ({ calls: [bash(`more ${index}`)] }),
      tools: [large],
      context: "raw",
      card: ["free", card],
    });
    expect(await runTurn(made.agent, never)).toBe("context_full");
    expect(Math.max(...contextSizes(made.log.events()))).toBeLessThan(40_000);
    expect(lastOf(made.log.events(), "turn_ended")?.detail).toContain("--context economist");
    expect(allOf(made.log.events(), "summary_call")).toEqual([]);
  });

  test("a session of twice the window goes on once it has policies", async () => {
    const calls = Array.from({ length: 20 }, (_, index) => ({ calls: [bash(`more ${index}`)] }));
    const made = testAgent({
      turns: [...calls, { text: "done" }, { text: "resumed" }],
      tools: [large],
      context: "raw",
    });
    expect(await runTurn(made.agent, never)).toBe("completed");
    const small = {
      ...made.agent.model.card,
      window: Math.round(Math.max(...contextSizes(made.log.events())) / 2),
    };
    made.log.append({ type: "model_changed", model: small });
    made.log.append(user("continue"));
    const resumed = { ...made.agent, policies: policyStack("economist") ?? [] };
    expect(await runTurn(resumed, never)).toBe("completed");
    expect(contextSizes(made.log.events()).at(-1)).toBeLessThan(small.window);
  });

  test("one result of 1.9 MB costs its budget, and the whole is in a file", async () => {
    const huge = fakeTool("bash", () => ({
      content: Array.from({ length: 19_000 }, (_, line) => `${line} ${"x".repeat(93)}`).join("\n"),
    }));
    const made = testAgent({ turns: [{ calls: [bash("cat")] }, { text: "done" }], tools: [huge] });
    expect(await runTurn(made.agent, never)).toBe("completed");
    const result = lastOf(made.log.events(), "tool_result");
    expect(String(result?.content).length).toBeLessThanOrEqual(30_000);
    expect(String(result?.content)).toContain(String(result?.artifact));
  });
});

const turnLength = sized(25, 50);
const window = sized(30_000, 60_000);

describe.each(["claude-sonnet-4-6", "claude-sonnet-5-5"])(
  `${8 * turnLength} steps on %s with a soft window of ${window}, which they fill ten times over`,
  (id) => {
    test("never overflow, and the last request still holds every user message and the true todo state", async () => {
      const { card } = findCard(`anthropic/${id}`);
      let step = 0;
      const server = await startMockServer({
        turns: (body) => {
          if (JSON.stringify(body.messages.at(-1)).includes("Write a handoff."))
            return { text: "Decisions: go on." };
          step += 1;
          const items = [1, 2, 3].map((item) => ({
            text: `part ${item}`,
            status: step > item * 2 * turnLength ? "done" : "open",
          }));
          if (step % turnLength === 0) return { text: `rest at ${step}` };
          if (step % Math.floor(turnLength / 2) === 1) return { calls: [{ todo: { items } }] };
          return { thinking: `why ${step} ${"because ".repeat(20)}`, calls: [bash(`make ${step}`)] };
        },
      });
      const lines = fakeTool("bash", () => ({
        content: "src/a.ts:12: some line of a long listing\n".repeat(150),
      }));
      const made = testAgent({
        turns: [],
        tools: [lines],
        context: "economist",
        realCard: card,
        engine: { window },
      });
      made.agent.tools.push(todoTool({ description: "", file: `${made.agent.artifacts.folder}/todo.md` }));
      made.agent.model = anthropicModel({ card, apiKey: "k", baseUrl: server.url });
      for (let turn = 1; turn <= 8; turn++) {
        made.log.append(user(`order ${turn}: ORDER-${turn}!`));
        expect(await runTurn(made.agent, never)).toBe("completed");
      }
      await server.close();
      expect(server.exchanges.filter((exchange) => exchange.status !== 200)).toEqual([]);
      expect(Math.max(...contextSizes(made.log.events()))).toBeLessThanOrEqual(window);
      const last = server.rawBodies.at(-1) ?? "";
      for (let turn = 1; turn <= 8; turn++) expect(last).toContain(`ORDER-${turn}!`);
      for (const item of [1, 2, 3]) expect(last).toContain(`[x] part ${item}`);
      expect(allOf(made.log.events(), "warning")).toEqual([]);
      expect(allOf(made.log.events(), "context_edited").length).toBeGreaterThan(10);
    });
  },
);
