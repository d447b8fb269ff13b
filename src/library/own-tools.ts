/** Tools of the program that the agent is part of, as tools of a session. */

import { UsageError } from "../core/errors.ts";
import type { Tool, ToolOutput } from "../core/ports.ts";
import { isKnownTool } from "../core/tool-calls.ts";
import type { AgentTool, AgentToolContext } from "./surface.ts";

/** Most characters of a call's input in its title. */
const titleChars = 200;

/** Throws `UsageError` for tools that cannot be declared. */
export function ownTools(tools: readonly AgentTool[]): Tool[] {
  const names = new Set<string>();
  return tools.map((tool) => {
    const wrong = problemOf(tool) ?? (names.has(tool.name) ? "there are two of it" : undefined);
    if (wrong) throw new UsageError(`the tool ${JSON.stringify(tool?.name)}: ${wrong}`);
    names.add(tool.name);
    return sessionTool(tool);
  });
}

function problemOf(tool: Partial<AgentTool> | null): string | undefined {
  if (typeof tool?.name !== "string" || !/^[A-Za-z_][\w-]{0,63}$/.test(tool.name))
    return "a name is made of letters, digits, _ and -, begins with a letter, and has at most 64";
  if (isKnownTool(tool.name) || tool.name === "reserved")
    return "a tool of Sawtooth has this name: choose another one";
  if (typeof tool.description !== "string" || tool.description.trim() === "")
    return "description is missing: the model decides by it when to call the tool";
  if (tool.inputSchema?.type !== "object") return 'inputSchema must be a schema with type "object"';
  if (typeof tool.run !== "function") return "run must be a function";
  return undefined;
}

function sessionTool(tool: AgentTool): Tool {
  const { name, description, inputSchema, readOnly = false } = tool;
  return {
    ...{ name, description, inputSchema },
    describe: (input) => ({ verb: name, subject: JSON.stringify(input).slice(0, titleChars).toWellFormed() }),
    touches: () => ({ kind: readOnly ? "reads" : "runs", paths: [] }),
    access: () => ({ kind: "program", readOnly }),
    run: (input, { toolUseId, signal, onProgress }) =>
      outcome(tool, input, { toolUseId, signal, onProgress }),
  };
}

/** Runs a call to its end, or until the turn is interrupted: a tool that never answers holds nobody. */
async function outcome(
  tool: AgentTool,
  input: Record<string, unknown>,
  context: AgentToolContext,
): Promise<ToolOutput> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<ToolOutput>();
  const cancel = () => stop({ content: `${tool.name} was interrupted.`, isError: true });
  if (context.signal.aborted) cancel();
  context.signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([stopped, called(tool, input, context)]);
  } finally {
    context.signal.removeEventListener("abort", cancel);
  }
}

async function called(
  { name, run }: AgentTool,
  input: Record<string, unknown>,
  context: AgentToolContext,
): Promise<ToolOutput> {
  try {
    const content: unknown = await run(input, context);
    if (typeof content === "string") return { content };
    return {
      content: `${name} returned ${content === null ? "null" : typeof content}, not text.`,
      isError: true,
    };
  } catch (error) {
    return {
      content: `${name} failed: ${error instanceof Error ? error.message : String(error)}`,
      isError: true,
    };
  }
}
