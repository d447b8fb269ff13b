/** An agent over an in-memory log for tests of the loop: the model is a function, the tools are a table. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../../src/agent/agent.ts";
import { knowledgeHead } from "../../src/context/policies/focus.ts";
import type { EngineSettings } from "../../src/context/policies/settings.ts";
import { policyStack } from "../../src/context/policies/stacks.ts";
import type { EventBody } from "../../src/core/events.ts";
import type { ModelCard } from "../../src/core/model-card.ts";
import type { EventLog, Model, Tool, ToolOutput } from "../../src/core/ports.ts";
import type { ModelRequest, WebSearch } from "../../src/core/request.ts";
import { describeCall, touchesOf } from "../../src/core/tool-calls.ts";
import type { ScriptedReply, Turns } from "../../src/models/playback/script.ts";
import { scriptedModel } from "../../src/models/playback/scripted.ts";
import { fixedClock, memoryLog, started, testCard } from "./logs.ts";

/** One folder for all agents of a test process; it goes with the process. */
const workspace = mkdtempSync(join(tmpdir(), "sawtooth-test-"));
process.on("exit", () => rmSync(workspace, { recursive: true, force: true }));

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
    describe: (input) => describeCall({ name, input }),
    touches: (input) => touchesOf({ name, input }),
    access: () => (kind === "read" ? { kind, paths: [] } : { kind }),
    run: async (input, context) => run(input, context.signal),
  };
}

/** A test may change a part before the agent runs. */
export type Composing = Omit<{ -readonly [K in keyof Agent]: Agent[K] }, "tools"> & { tools: Tool[] };

export type TestAgent = { agent: Composing; requests: ModelRequest[]; log: EventLog };

/** `turns`: what the model answers. `context`: name of the policy stack. */
type TestOptions = {
  turns: Turns<ModelRequest> | readonly ScriptedReply[];
  tools?: Tool[];
  context?: string;
  card?: Parameters<typeof testCard>;
  /** A whole card, in place of a test card. */
  realCard?: ModelCard;
  engine?: Partial<EngineSettings>;
  /** Turns the provider's own search on. */
  webSearch?: WebSearch;
  prompt?: string;
  changes?: Partial<Composing>;
};

export function testAgent(options: TestOptions): TestAgent {
  const card = options.realCard ?? testCard(...(options.card ?? []));
  const clock = fixedClock();
  const log = memoryLog(
    [
      {
        ...started(card),
        context: options.context ?? "focus",
        ...(options.engine ? { engine: options.engine } : {}),
        ...(options.webSearch ? { webSearch: options.webSearch } : {}),
      } as EventBody,
      firstMessage(options),
    ],
    clock,
  );
  const requests: ModelRequest[] = [];
  const model = watched(scriptedModel({ card, turns: options.turns, cwd: "/w", now: clock }), requests);
  const folder = mkdtempSync(join(workspace, "agent-"));
  let files = 0;
  const write = (extension: string, text: string): string => {
    const file = join(folder, `${++files}.${extension}`);
    writeFileSync(file, text);
    return file;
  };
  const agent: Composing = {
    log,
    model,
    tools: options.tools ?? [fakeTool("bash", (input) => ({ content: `ran ${String(input.command)}` }))],
    policies: policyStack(options.context ?? "focus") ?? [],
    limits: {},
    clock,
    artifacts: { folder, create: (extension) => write(extension, ""), write },
    permit: async () => ({ decision: "allow", rule: "auto", by: "mode", mode: "auto" }),
    guard: (signal, call) => call(signal),
    takeSteering: () => [],
    takeNotices: () => [],
    onPart: () => {},
    onProgress: () => {},
    redact: (text) => text,
    hash: (body) => String(body.length),
    readTasks: () => undefined,
    changedFiles: () => [],
    summaryPrompt: "Write a handoff.",
    summaries: { cards: [], always: false, open: () => model },
    pathExists: () => false,
    reminderWords: readFileSync(new URL("../../prompts/reminders.md", import.meta.url), "utf8"),
    ...options.changes,
  };
  return { agent, requests, log };
}

/** As the wiring does: `focus-top` keeps its knowledge in a block of the preamble. */
function firstMessage({ prompt = "go", context }: { prompt?: string; context?: string }): EventBody {
  const preamble =
    context === "focus-top"
      ? { preamble: [{ type: "text" as const, text: knowledgeHead }], knowledge: 0 }
      : {};
  return { type: "user_message", content: [{ type: "text", text: prompt }], ...preamble };
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
