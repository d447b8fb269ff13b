/** Runs the calls of one reply: each ends with exactly one result in the log, whatever happens. */

import { resultBudget } from "../context/policies/budget.ts";
import type { ResultContent, ToolUseBlock } from "../core/blocks.ts";
import type { Rejection, Task } from "../core/events.ts";
import type { Tool, ToolOutput } from "../core/ports.ts";
import { violations } from "../core/schema.ts";
import { wellFormedValue } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";
import { truncateOutput } from "../core/text/truncate-output.ts";
import { type CallFacts, isKnownTool } from "../core/tool-calls.ts";
import type { Agent, ProposedCall } from "./agent.ts";

/** Hard limit on a tool result in bytes, whatever the tool's own budget (context-engine §3). */
const hardLimitBytes = 30_000;

type Input = Record<string, unknown>;

/** Calls that only read run together, and so do sub-agents that only read; otherwise one after the other. Results are logged in the order of the calls. */
export async function runCalls(
  agent: Agent,
  calls: readonly ToolUseBlock[],
  signal: AbortSignal,
): Promise<void> {
  if (calls.length > 1 && calls.every((call) => onlyReads(agent.tools, call))) {
    const outputs = await Promise.all(calls.map((call) => runCall(agent, call, signal)));
    outputs.forEach((output, index) => {
      const call = calls[index];
      if (call) appendResult(agent, call, output);
    });
    return;
  }
  for (const call of calls) appendResult(agent, call, await runCall(agent, call, signal));
}

function onlyReads(tools: readonly Tool[], call: ToolUseBlock): boolean {
  const tool = tools.find((candidate) => candidate.name === call.name);
  if (!tool || violations(tool.inputSchema, call.input).length > 0) return false;
  const access = tool.access(call.input as Input);
  return access.kind === "read" || (access.kind === "delegate" && !access.writes);
}

async function runCall(agent: Agent, call: ToolUseBlock, signal: AbortSignal): Promise<ToolOutput> {
  if (signal.aborted) return refusal("cancelled", "[cancelled by user]");
  const tool = agent.tools.find((candidate) => candidate.name === call.name);
  if (!tool)
    return refusal(
      "unknown_tool",
      `There is no tool ${call.name}. Tools: ${agent.tools.map(({ name }) => name).join(", ")}.`,
    );
  const wrong = violations(tool.inputSchema, call.input);
  if (wrong.length > 0)
    return refusal("invalid_input", `Invalid input for ${call.name}: ${wrong.join("; ")}.`);
  const input = call.input as Input;
  try {
    const proposed = { call, id: call.id, tool, input, access: tool.access(input) };
    const refused = await decide(agent, proposed, signal);
    if (refused !== undefined) return refusal("denied", `Not permitted: ${refused}`);
    const output = await agent.guard(signal, (either) => runTool(agent, proposed, either));
    if (!output.rejected) await agent.afterCall?.(proposed, output, signal);
    return output;
  } catch (error) {
    // A tool that throws is a bug of ours, but a session must outlive it: the model hears and can go on.
    const message = error instanceof Error ? error.message : String(error);
    const text = `${call.name} failed unexpectedly: ${message}`;
    agent.log.append({ type: "warning", code: "tool_crashed", text });
    return { content: text, isError: true };
  }
}

type LoggedCall = ProposedCall & { call: ToolUseBlock };

async function runTool(
  agent: Agent,
  { call, tool, input, access }: LoggedCall,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (access.kind !== "read" && access.kind !== "session") await agent.beforeWrite?.(access);
  if (signal.aborted) return refusal("cancelled", "[cancelled by user]");
  return tool.run(input, {
    toolUseId: call.id,
    signal,
    events: agent.log.events(),
    access,
    budgetTokens: resultBudget(agent.log.events()),
    artifacts: agent.artifacts,
    onProgress: (text) => agent.onProgress(call.id, text),
    onWaiting: agent.onWaiting,
  });
}

/**
 * Appends the decision before the call runs, so that it is known even when the call ends us. Returns why it may not
 * run.
 */
async function decide(
  agent: Agent,
  { call, ...proposed }: LoggedCall,
  signal: AbortSignal,
): Promise<string | undefined> {
  const askedAt = agent.clock();
  const permission = await agent.permit(proposed, signal);
  const { decision, rule, by, mode, scope, asked } = permission;
  agent.log.append({
    type: "permission_decided",
    toolUseId: call.id,
    ...{ decision, rule, by },
    ...(mode ? { mode } : {}),
    ...(scope ? { scope } : {}),
    ...(asked ? { asked: { ...asked, waitedMs: agent.clock() - askedAt } } : {}),
  });
  return permission.decision === "deny" ? permission.reason : undefined;
}

function refusal(rejected: Rejection, text: string): ToolOutput {
  return { content: text, isError: true, rejected };
}

function appendResult(agent: Agent, call: ToolUseBlock, whole: ToolOutput): void {
  const facts = whole.rejected === "invalid_input" ? undefined : unknownCallFacts(agent, call);
  const output = withinLimit(agent, { ...whole, content: withHiddenShown(whole.content) });
  agent.log.append({
    type: "tool_result",
    toolUseId: call.id,
    toolName: call.name,
    content: clean(output.content, agent.redact),
    isError: output.isError ?? false,
    ...(output.rejected ? { rejected: output.rejected } : {}),
    ...(output.tasks ? { tasks: output.tasks.map((task) => cleanTask(task, agent.redact)) } : {}),
    ...(output.artifact ? { artifact: output.artifact } : {}),
    ...(output.stats ? { stats: output.stats } : {}),
    ...(output.display ? { display: output.display } : {}),
    ...(output.instructions ? { instructions: output.instructions } : {}),
    ...(facts ? { call: facts } : {}),
  });
}

/** The facts of a call that a reader of the log could not tell: of a tool that core does not know. */
export function unknownCallFacts(
  { tools, redact }: Pick<Agent, "tools" | "redact">,
  { name, input }: ToolUseBlock,
): CallFacts | undefined {
  const tool = isKnownTool(name) ? undefined : tools.find((candidate) => candidate.name === name);
  if (!tool) return undefined;
  const { verb, subject } = tool.describe(input as Input);
  const { kind, paths } = tool.touches(input as Input);
  return { verb, subject: redact(subject.toWellFormed()), kind, paths: paths.map(redact) };
}

/** Spells out hidden characters of files and programs, so that the model sees nothing that people cannot. */
function withHiddenShown(content: ResultContent): ResultContent {
  if (typeof content === "string") return showHidden(content);
  return content.map((block) => (block.type === "text" ? { ...block, text: showHidden(block.text) } : block));
}

/** A text above the hard limit goes to an artifact, and its view stands for it. */
function withinLimit(agent: Agent, output: ToolOutput): ToolOutput {
  const { content } = output;
  if (typeof content !== "string" || content.length <= hardLimitBytes) return output;
  const artifact = output.artifact ?? agent.artifacts.write("txt", content);
  const maxBytes = Math.min(hardLimitBytes, 4 * resultBudget(agent.log.events()));
  return { ...output, artifact, content: truncateOutput(content, { maxBytes, path: artifact }).text };
}

function cleanTask(task: Task, redact: (text: string) => string): Task {
  return { ...task, text: redact(task.text.toWellFormed()) };
}

function clean(content: ResultContent, redact: (text: string) => string): ResultContent {
  if (typeof content === "string") return redact(wellFormedValue(content) as string);
  return content.map((block) =>
    block.type === "text" ? { ...block, text: redact(block.text.toWellFormed()) } : block,
  );
}
