/** The `mcp` tool: calls a tool of a server. Its own bytes are the same for every set of servers. */

import type { Tool, ToolContext, ToolOutput } from "../core/ports.ts";
import { closedObject } from "../core/schema.ts";
import { mcpCalls, toolNames } from "../core/tool-calls.ts";
import { callServer, isFailed, type ServerCall } from "./call.ts";
import type { SessionServers } from "./servers.ts";

type Input = ServerCall & { want?: string };

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
  const answer = await callServer(input, servers, context);
  if (isFailed(answer)) {
    const { failure, timedOut } = answer;
    return { content: failure, isError: true, ...(timedOut ? { stats: { timedOut } } : {}) };
  }
  const { resultOf } = await import("./results.ts");
  return resultOf(answer, { context, want: input.want, name: `${input.server}/${input.tool}` });
}
