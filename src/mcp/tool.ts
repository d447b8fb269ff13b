/** The `mcp` tool: calls a tool of a server. Its own bytes are the same for every set of servers. */

import type { Tool, ToolContext, ToolOutput } from "../core/ports.ts";
import { closedObject } from "../core/schema.ts";
import { mcpCalls, toolNames } from "../core/tool-calls.ts";
import { fileText, type RemoteTool } from "./catalogue.ts";
import type { Connection } from "./connection.ts";
import { argumentViolations } from "./foreign-schema.ts";
import type { SessionServers } from "./servers.ts";
import { shownLine } from "./shown.ts";

type Input = { server: string; tool: string; arguments?: Record<string, unknown>; want?: string };

/** Creates the tool over the servers of a session. */
export function mcpTool(description: string, servers: SessionServers): Tool {
  return {
    ...mcpCalls,
    name: toolNames.mcp,
    description,
    inputSchema: closedObject(
      {
        server: { type: "string" },
        tool: { type: "string" },
        arguments: { type: "object", description: "as the schema of the tool has them" },
        want: { type: "string", description: "what you look for in a long result, in a few words" },
      },
      ["server", "tool"],
    ),
    access(input) {
      const { server, tool } = input as Input;
      const isTrusted = servers.configuration(server)?.trusted === true;
      return {
        kind: "remote",
        server,
        tool,
        readOnly: isTrusted && servers.toolOf(server, tool)?.readOnly === true,
      };
    },
    async run(input, context) {
      const began = Date.now();
      const output = await call(input as Input, servers, context);
      return { ...output, stats: { ...output.stats, durationMs: Date.now() - began } };
    },
  };
}

async function call(input: Input, servers: SessionServers, context: ToolContext): Promise<ToolOutput> {
  const { server } = input;
  const configuration = servers.configuration(server);
  if (!configuration)
    return failure(`There is no MCP server ${server}. Servers: ${servers.names.join(", ")}.`);
  let connection: Connection;
  try {
    connection = await orAborted(servers.connection(server), context.signal);
  } catch (error) {
    if (context.signal.aborted) return failure("[cancelled by user]");
    return failure(`MCP server ${server} cannot be started: ${(error as Error).message}`);
  }
  const tool = servers.toolOf(server, input.tool);
  if (!tool) return failure(noSuchTool(input, connection, servers));
  const wrong = argumentViolations(tool.inputSchema, input.arguments ?? {});
  if (wrong.length > 0) return failure(`Wrong arguments: ${wrong.join("; ")}.\n${schemaText(tool)}`);
  return callTool(input, { connection, tool, context, timeoutMs: configuration.timeoutMs });
}

type Call = { connection: Connection; tool: RemoteTool; context: ToolContext; timeoutMs: number };

async function callTool(input: Input, { connection, tool, context, timeoutMs }: Call): Promise<ToolOutput> {
  const { server, want } = input;
  const { signal, onProgress } = context;
  const { CallFailed } = await import("./connection.ts");
  try {
    const result = await connection.call(tool.name, input.arguments ?? {}, { signal, timeoutMs, onProgress });
    const { resultOf } = await import("./results.ts");
    return await resultOf(result, { context, want, name: `${server}/${tool.name}` });
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    const why = shownLine(error.message, 1000);
    switch (error.kind) {
      case "cancelled":
        return failure("[cancelled by user]");
      case "invalid":
        return failure(`Wrong arguments: ${why}\n${schemaText(tool)}`);
      case "timeout":
        return {
          ...failure(`[no answer and no progress for ${timeoutMs / 1000} s: cancelled]`),
          stats: { timedOut: true },
        };
      case "ended":
        return failure(`MCP server ${server} ${why}. The next call starts it again.`);
      case "other":
        return failure(`MCP server ${server} refused the call: ${why}`);
    }
  }
}

/** Longest schema that stands in a result, in bytes; the file has it whole. */
const schemaBytes = 8000;

function schemaText(tool: RemoteTool): string {
  const text = fileText(tool);
  return text.length <= schemaBytes ? text : `${text.slice(0, schemaBytes).toWellFormed()}…`;
}

function noSuchTool({ server, tool }: Input, { catalogue }: Connection, servers: SessionServers): string {
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

function failure(text: string): ToolOutput {
  return { content: text, isError: true };
}
