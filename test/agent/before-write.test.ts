import { expect, test } from "vitest";
import type { Agent } from "../../src/agent/agent.ts";
import { runTurn } from "../../src/agent/loop.ts";
import type { Access } from "../../src/core/ports.ts";
import { type Composing, fakeTool, testAgent } from "../support/agents.ts";

const path = "/w/app/a";
const accesses: Record<string, Access> = {
  look: { kind: "read", paths: [path] },
  todo: { kind: "session" },
  edit: { kind: "write", paths: [path] },
  run: { kind: "execute", command: "make" },
};

function agentWith(order: string[], changes: Partial<Composing>): Agent {
  const tools = Object.entries(accesses).map(([name, access]) => ({
    ...fakeTool(name, () => {
      order.push(name);
      return { content: "done" };
    }),
    access: () => access,
  }));
  const calls = Object.keys(accesses).map((name) => ({ [name]: {} }));
  return testAgent({ turns: [{ calls }, { text: "done" }], tools, changes }).agent;
}

test("what a call may change is kept before it runs, and reading waits for nothing", async () => {
  const order: string[] = [];
  const agent = agentWith(order, {
    async beforeWrite({ kind }) {
      order.push(`before ${kind}`);
    },
  });
  await runTurn(agent, new AbortController().signal);
  expect(order).toEqual(["look", "todo", "before write", "edit", "before execute", "run"]);
});

test("what is not permitted, or was interrupted meanwhile, is not run", async () => {
  const order: string[] = [];
  const stop = new AbortController();
  const agent = agentWith(order, {
    async permit({ tool }) {
      const rule = { rule: "edit", by: "rule" as const, reason: "no" };
      return tool.name === "edit"
        ? { decision: "deny", ...rule }
        : { decision: "allow", rule: "auto", by: "mode" };
    },
    async beforeWrite({ kind }) {
      order.push(`before ${kind}`);
      stop.abort();
    },
  });
  expect(await runTurn(agent, stop.signal)).toBe("interrupted");
  expect(order).toEqual(["look", "todo", "before execute"]);
});
