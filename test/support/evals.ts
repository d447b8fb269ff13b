/** Runs an eval: the real agent over real bash and files, against the strict server or a real model. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runTurn } from "../../src/agent/loop.ts";
import { openRun } from "../../src/app/open-session.ts";
import type { Run } from "../../src/app/session.ts";
import { parseCommand } from "../../src/cli/arguments/arguments.ts";
import type { EngineSettings } from "../../src/context/policies/settings.ts";
import { requestOfStep } from "../../src/context/request/compose.ts";
import { isToolUse } from "../../src/core/blocks.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf } from "../../src/core/questions.ts";
import type { Evaluation, Outcome } from "../../src/lab/evals/evals.ts";
import { withFault } from "../../src/lab/evals/faults.ts";
import { nextAction, type SeenMessage } from "../../src/lab/evals/scripted-reader.ts";
import type { EvalResult } from "../../src/lab/evals/table.ts";
import { type MockServer, startMockServer } from "./mock-server.ts";
import { makeWorkspace, type Workspace, writeSettings } from "./sawtooth.ts";

export type EvalOptions = {
  evaluation: Evaluation;
  stack: string;
  /** `provider/id`. */
  model: string;
  /** The part to break, by a name of `sabotage.ts`. */
  broken?: string | undefined;
  /** Keys of a real provider; without them the scripted reader answers. */
  live?: Record<string, string | undefined>;
};

/** All thresholds so low that something is forgotten every few steps: the soft window is 15 % of the model's. */
const modelWindow = 80_000;
const engine: Partial<EngineSettings> = {
  window: 12_000,
  maskKeep: 3,
  summaryTurns: 4,
  hybridTurns: 6,
  summaryKeep: 3,
  target: 0.2,
  inputsAt: 0.25,
  offloadTokens: 600,
  resultShare: 0.5,
  minFlush: 1_000,
  quietSteps: 5,
};

/** One run in a workspace of its own. */
export async function runEval(options: EvalOptions): Promise<EvalResult> {
  const { evaluation, live, model } = options;
  const server = live
    ? undefined
    : await startMockServer({
        turns: (body) => nextAction(body.messages as SeenMessage[], evaluation.answer),
        models: { "*": { window: modelWindow } },
      });
  const workspace = makeWorkspace(server?.url);
  Object.assign(workspace.env, live);
  const models = live ? {} : { [model]: { window: modelWindow } };
  writeSettings(workspace, { engine, models, summaryModel: "own" });
  try {
    return await evaluate(options, workspace, server);
  } finally {
    await server?.close();
    workspace.remove();
  }
}

async function evaluate(
  { evaluation, stack, model, broken = "" }: EvalOptions,
  workspace: Workspace,
  server: MockServer | undefined,
): Promise<EvalResult> {
  for (const [name, text] of Object.entries(evaluation.files)) {
    mkdirSync(dirname(join(workspace.cwd, name)), { recursive: true });
    writeFileSync(join(workspace.cwd, name), text);
  }
  const words = [
    "-p",
    "--model",
    model,
    "--context",
    stack,
    "--permission-mode",
    "auto",
    "--max-turns",
    "150",
  ];
  const command = parseCommand([...words, "eval"]);
  if (command.name !== "run") throw new Error(`no run, but ${command.name}`);
  const { flags } = command;
  const warnings: string[] = [];
  const run = await openRun({
    ...{ flags, cwd: workspace.cwd, env: workspace.env },
    warn: (text) => warnings.push(text),
    crashed: (error) => warnings.push(String(error)),
  });
  const code = 1000 + Math.floor(Math.random() * 8000);
  const lost: string[] = [];
  try {
    for (const text of evaluation.said(code)) {
      run.say([{ type: "text", text }]);
      const end = await runTurn(withBreak(run, broken), new AbortController().signal);
      if (end !== "completed") lost.push(`the turn ended with ${end}`);
    }
  } finally {
    await run.close();
  }
  const events = run.agent.log.events();
  const refused = server?.exchanges.filter(({ status }) => status !== 200) ?? [];
  lost.push(...refused.map(({ error }) => `a request that the API refused: ${error}`));
  lost.push(...evaluation.check(outcomeOf(events, workspace), code));
  return {
    ...{ name: evaluation.name, stack, model, lost },
    edits: allOf(events, "context_edited").length,
    summaries: allOf(events, "summary_call").length,
    steps: allOf(events, "model_request").length,
  };
}

function withBreak({ agent }: Run, name: string): Run["agent"] {
  const { log } = agent;
  if (name === "") return agent;
  const first = allOf(log.events(), "user_message")[0];
  const block = (first?.preamble?.length ?? 0) + (first?.content.length ?? 1) - 1;
  const firstSaid = { seq: first?.seq ?? 0, block };
  return { ...agent, log: { ...log, append: (body) => log.append(withFault(body, name, firstSaid)) } };
}

function outcomeOf(events: readonly LogEvent[], workspace: Workspace): Outcome {
  const steps = allOf(events, "model_request");
  return {
    events,
    answers: answersOf(events),
    file(name) {
      const path = join(workspace.cwd, name);
      return existsSync(path) ? readFileSync(path, "utf8") : undefined;
    },
    firstOutput(command) {
      const call = allOf(events, "assistant_message")
        .flatMap(({ content }) => content.filter(isToolUse))
        .find(({ input }) => String((input as { command?: string }).command).includes(command));
      const result = allOf(events, "tool_result").find(({ toolUseId }) => toolUseId === call?.id);
      return result?.artifact ? readFileSync(result.artifact, "utf8") : "";
    },
    requests: () =>
      steps.map(({ seq }, index) => {
        const blocks =
          requestOfStep(events, index + 1)?.request.messages.flatMap(({ content }) => content) ?? [];
        return { seq, texts: blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])) };
      }),
  };
}

/** Returns the last words of the model before each end of a turn. */
function answersOf(events: readonly LogEvent[]): string[] {
  return events.flatMap((event, index) => {
    if (event.type !== "turn_ended") return [];
    const reply = events.slice(0, index).findLast((each) => each.type === "assistant_message");
    if (reply?.type !== "assistant_message") return [""];
    return [reply.content.map((block) => (block.type === "text" ? block.text : "")).join("")];
  });
}
