/** An agent over an in-memory log for tests of the loop: the model is a function, the tools are a table. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../../src/agent/agent.ts";
import { policyStack } from "../../src/context/stacks.ts";
import type { EventLog, Model, Tool, ToolOutput } from "../../src/core/ports.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import type { Turn, Turns } from "../../src/models/script.ts";
import { scriptedModel } from "../../src/models/scripted.ts";
import { fixedClock, memoryLog, started, testCard, user } from "./logs.ts";

/** A tool that takes any input and answers with `run`. */
export function fakeTool(
  name: string,
  run: (input: Record<string, unknown>, signal: AbortSignal) => ToolOutput | Promise<ToolOutput>,
  kind: "read" | "session" = "session",
): Tool {
  return {
    name,
    description: name,
    inputSchema: { type: "object" },
    access: () => (kind === "read" ? { kind, paths: [] } : { kind }),
    run: async (input, context) => run(input, context.signal),
  };
}

export type TestAgent = { agent: Agent; requests: ModelRequest[]; log: EventLog };

/** `turns`: what the model answers. `context`: name of the policy stack. */
export function testAgent(options: {
  turns: Turns<ModelRequest> | readonly Turn[];
  tools?: Tool[];
  context?: string;
  card?: Parameters<typeof testCard>;
  prompt?: string;
  changes?: Partial<Agent>;
}): TestAgent {
  const card = testCard(...(options.card ?? []));
  const clock = fixedClock();
  const log = memoryLog([started(card), user(options.prompt ?? "go")], clock);
  const requests: ModelRequest[] = [];
  const model = watched(scriptedModel({ card, turns: options.turns, cwd: "/w", now: clock }), requests);
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-test-"));
  let files = 0;
  const agent: Agent = {
    log,
    model,
    tools: options.tools ?? [fakeTool("bash", (input) => ({ content: `ran ${String(input.command)}` }))],
    policies: policyStack(options.context ?? "focus") ?? [],
    limits: {},
    clock,
    artifacts: {
      folder,
      create(extension) {
        const file = join(folder, `${++files}.${extension}`);
        writeFileSync(file, "");
        return file;
      },
    },
    permit: async () => ({ decision: "allow" }),
    takeSteering: () => [],
    takeNotices: () => [],
    onPart: () => {},
    onProgress: () => {},
    redact: (text) => text,
    hash: (body) => String(body.length),
    summaryPrompt: "Write a handoff.",
    ...options.changes,
  };
  return { agent, requests, log };
}

function watched(model: Model, requests: ModelRequest[]): Model {
  return {
    ...model,
    send(request, body, onPart, signal) {
      requests.push(structuredClone(request));
      return model.send(request, body, onPart, signal);
    },
  };
}
