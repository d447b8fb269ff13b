/** Calls a tool of a server, for the model and for commands of the shell; reads resources, and fills in prompts. */

import type { CallToolResult, GetPromptResult } from "@modelcontextprotocol/client";
import { fileText, type RemoteTool } from "./catalogue.ts";
import type { ServerConfiguration } from "./configuration.ts";
import type { CallOptions, Connection } from "./connection.ts";
import { CallFailed, notConnected, signInText } from "./failures.ts";
import { argumentViolations, withDefaults } from "./foreign-schema.ts";
import type { SessionServers } from "./servers.ts";
import { shownLine } from "./shown.ts";

export type ServerCall = { server: string; tool: string; arguments?: Record<string, unknown> };

/** A call without a result. `failure`: why, for the model. */
export type Failed = { failure: string; timedOut?: true };

/** `onProgress`: called with each progress that the server reports. */
export type CallIo = { signal: AbortSignal; onProgress(text: string): void };

/** Returns true for a call without a result. A result may have any other field. */
export function isFailed(answer: CallToolResult | Failed): answer is Failed {
  return !("content" in answer);
}

/** Calls a tool, and starts its server if need be. Returns what the server answered, or why there is no answer. */
export async function callServer(
  call: ServerCall,
  servers: SessionServers,
  io: CallIo,
): Promise<CallToolResult | Failed> {
  const ready = await readyServer(call.server, servers, io.signal);
  if ("failure" in ready) return ready;
  const { connection, configuration } = ready;
  const tool = servers.toolOf(call.server, call.tool);
  if (!tool) return { failure: noSuchTool(call, connection, servers) };
  const input = withDefaults(tool.inputSchema, call.arguments ?? {});
  const wrong = argumentViolations(tool.inputSchema, input);
  if (wrong.length > 0) return { failure: `Wrong arguments: ${wrong.join("; ")}.\n${schemaText(tool)}` };
  return answered(configuration, io, {
    run: (options) => connection.call(tool.name, input, options),
    invalid: (why) => `Wrong arguments: ${why}\n${schemaText(tool)}`,
  });
}

/** Reads a resource, and starts its server if need be. Its contents are parts of the result. */
export async function readResource(
  { server, resource }: { server: string; resource: string },
  servers: SessionServers,
  io: CallIo,
): Promise<CallToolResult | Failed> {
  const ready = await readyServer(server, servers, io.signal);
  if ("failure" in ready) return ready;
  const { connection, configuration } = ready;
  return answered(configuration, io, {
    async run(options) {
      const { contents } = await connection.read(resource, options);
      return { content: contents.map((one) => ({ type: "resource" as const, resource: one })) };
    },
    invalid: (why) =>
      `MCP server ${server} has no resource ${shownLine(resource, 500)}: ${why}. Its resources: ${servers.folderOf(server)}/resources.jsonl`,
  });
}

/** Fills in a prompt that a person started. The person needs no look at changed tools: none is called. */
export async function getPrompt(
  { server, prompt, values }: { server: string; prompt: string; values: Record<string, string> },
  servers: SessionServers,
  io: CallIo,
): Promise<GetPromptResult | Failed> {
  const reached = await reachServer(server, servers, io.signal);
  if ("failure" in reached) return reached;
  const { connection, configuration } = reached;
  return answered(configuration, io, {
    run: (options) => connection.prompt(prompt, values, options),
    invalid: (why) => `MCP server ${server} refused the prompt ${shownLine(prompt, 200)}: ${why}`,
  });
}

type Ready = { connection: Connection; configuration: ServerConfiguration };

/** Connects to a server, whose offer a person has seen. */
async function readyServer(
  server: string,
  servers: SessionServers,
  signal: AbortSignal,
): Promise<Ready | Failed> {
  const reached = await reachServer(server, servers, signal);
  if ("failure" in reached) return reached;
  return (await servers.changes(server)) ? { failure: unseenText(server) } : reached;
}

/** Connects to a server, which is started if need be. */
export async function reachServer(
  server: string,
  servers: SessionServers,
  signal: AbortSignal,
): Promise<Ready | Failed> {
  const configuration = servers.configuration(server);
  if (!configuration)
    return { failure: `There is no MCP server ${server}. Servers: ${servers.names.join(", ")}.` };
  const connection = await connectionOf(configuration, servers, signal);
  return "failure" in connection ? connection : { connection, configuration };
}

/** Says why a server is not called that nobody looked at since it changed. */
export function unseenText(server: string): string {
  return `MCP server ${server} describes its tools otherwise than when a person last saw them, and is not called before one has seen the difference: sawtooth mcp review shows it at a terminal and asks, and "changes": "trusted" in its entry takes every change.`;
}

/** Connects to a server if need be. */
async function connectionOf(
  configuration: ServerConfiguration,
  servers: SessionServers,
  signal: AbortSignal,
): Promise<Connection | Failed> {
  const { name } = configuration;
  try {
    return await orAborted(servers.connection(name), signal);
  } catch (error) {
    if (signal.aborted) return { failure: "[cancelled by user]" };
    return { failure: notConnected(configuration, error as Error) };
  }
}

type Run<T> = {
  run(options: CallOptions): Promise<T>;
  /** Words a refusal of the arguments. */
  invalid(why: string): string;
};

/** Runs a call, and words its failure. */
async function answered<T>(
  configuration: ServerConfiguration,
  io: CallIo,
  { run, invalid }: Run<T>,
): Promise<T | Failed> {
  const { name: server, timeoutMs } = configuration;
  const { signal, onProgress } = io;
  try {
    return await run({ signal, timeoutMs, onProgress });
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    const why = shownLine(error.message, 1000);
    switch (error.kind) {
      case "cancelled":
        return { failure: "[cancelled by user]" };
      case "invalid":
        return { failure: invalid(why) };
      case "timeout":
        return {
          failure: `[no answer and no progress for ${timeoutMs / 1000} s: cancelled${why ? `; ${why}` : ""}]`,
          timedOut: true,
        };
      case "ended":
        return { failure: `MCP server ${server} ${why}. The next call ${again(configuration)}.` };
      case "sign_in":
        return { failure: signInText(configuration) };
      case "other":
        return { failure: `MCP server ${server} refused the call: ${why}` };
    }
  }
}

function again({ kind }: ServerConfiguration): string {
  return kind === "http" ? "connects again" : "starts it again";
}

/** Longest schema that stands in a result, in bytes; the file has it whole. */
const schemaBytes = 8000;

/** Returns the schema of a tool as it stands in a result. */
export function schemaText(tool: RemoteTool): string {
  const text = fileText(tool);
  return text.length <= schemaBytes ? text : `${text.slice(0, schemaBytes).toWellFormed()}…`;
}

function noSuchTool(
  { server, tool }: ServerCall,
  { catalogue }: Connection,
  servers: SessionServers,
): string {
  const names = catalogue.tools.slice(0, 60).map(({ name }) => shownLine(name, 100));
  const rest = catalogue.tools.length - names.length;
  const more = rest > 0 ? `, and ${rest} more` : "";
  return `MCP server ${server} has no tool ${tool}. Tools: ${names.join(", ") || "none"}${more}. Schemas: ${servers.folderOf(server)}/`;
}

/** Rejects when the signal is aborted; what was waited for goes on. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("aborted"));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
