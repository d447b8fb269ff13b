/** The `mcp` tool: calls a tool of a server, or reads a resource. Its own bytes are the same for every set of servers. */

import type { Tool, ToolContext, ToolOutput } from "../core/ports.ts";
import { closedObject } from "../core/schema.ts";
import { mcpCalls, toolNames } from "../core/tool-calls.ts";
import { callServer, isFailed, readResource } from "./call.ts";
import type { SessionServers } from "./servers.ts";

type Input = { server: string; want?: string } & (
  | { tool: string; arguments?: Record<string, unknown>; resource?: undefined }
  | { resource: string; tool?: undefined }
);

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
        resource: { type: "string", description: "address of a resource to read, instead of a tool" },
        want: { type: "string", description: "what you look for in a long result, in a few words" },
      },
      ["server"],
    ),
    access(input) {
      const { server, tool = "", resource } = input as Input;
      const isTrusted = servers.configuration(server)?.trusted === true;
      const isRead = resource !== undefined && tool === "";
      return {
        ...{ kind: "remote", server, tool: isRead ? `resource:${resource}` : tool },
        readOnly: isTrusted && (isRead || servers.toolOf(server, tool)?.readOnly === true),
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
  const { server, tool, resource } = input;
  if ((tool === undefined) === (resource === undefined))
    return { content: "A call has a tool or a resource: give one of them.", isError: true };
  const answer =
    resource === undefined
      ? await callServer({ ...input, tool }, servers, context)
      : await readResource({ server, resource }, servers, context);
  if (isFailed(answer)) {
    const { failure, timedOut } = answer;
    return { content: failure, isError: true, ...(timedOut ? { stats: { timedOut } } : {}) };
  }
  const { resultOf } = await import("./results.ts");
  return resultOf(answer, { context, want: input.want, name: `${server}/${tool ?? resource}` });
}
