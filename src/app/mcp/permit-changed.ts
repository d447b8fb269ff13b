/** Asks the person before a call of a server whose tools changed since they saw them. */

import type { Agent, Permission } from "../../agent/agent.ts";
import type { Access } from "../../core/ports.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { Person } from "../session.ts";
import { namedBy } from "./shell-calls.ts";

/** Adds the question to `permit`; without a person such a call is denied. */
export function permitChanged(
  permit: Agent["permit"],
  servers: SessionServers | undefined,
  ask: Person["ask"] | undefined,
): Agent["permit"] {
  if (!servers) return permit;
  return async (call, signal) => {
    let permission = await permit(call, signal);
    if (permission.decision === "deny") return permission;
    for (const server of await calledServers(call.access, servers.names)) {
      const changes = await changesOf(server, servers, signal);
      if (signal.aborted) return permission;
      if (!changes) continue;
      const record = { rule: server, by: "changed" as const, mode: permission.mode ?? "ask" };
      const { unseenText } = await import("../../mcp/call.ts");
      if (!ask) return { decision: "deny", ...record, reason: unseenText(server) };
      permission = await asked(call, { server, changes, servers, ask, permission, signal });
      if (permission.decision === "deny") return permission;
    }
    return permission;
  };
}

/** Returns the servers that a call needs: that of the tool, or those whose tools a command names. */
async function calledServers(access: Access, names: readonly string[]): Promise<string[]> {
  if (access.kind === "remote") return [access.server];
  const named = await namedBy(access, names);
  return [...new Set(named?.map(({ server }) => server))];
}

/** Starts the server, as only then its offer is known. Where it cannot be started the call says why. */
async function changesOf(
  server: string,
  servers: SessionServers,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  if (!servers.configuration(server)) return undefined;
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const connected = servers.connection(server).then(
    () => {},
    () => {},
  );
  await Promise.race([connected, aborted]);
  return servers.changes(server);
}

type Asking = {
  server: string;
  changes: string[];
  servers: SessionServers;
  ask: Person["ask"];
  permission: Permission;
  signal: AbortSignal;
};

async function asked(
  { id, tool, input }: Parameters<Agent["permit"]>[0],
  { server, changes, servers, ask, permission, signal }: Asking,
): Promise<Permission> {
  const reason =
    "Its tools are described otherwise than when you last saw them. Yes takes them as they are now.";
  const answer = await ask(
    { toolUseId: id, toolName: tool.name, input, reason, changes: { server, lines: changes } },
    signal,
  );
  const record = { rule: server, by: "user" as const, ...(permission.mode ? { mode: permission.mode } : {}) };
  if (answer.decision === "allow") {
    servers.accept(server);
    return { decision: "allow", ...record, asked: { reason } };
  }
  const { say } = answer;
  const unanswered = signal.aborted && !say ? { unanswered: true as const } : {};
  const words = say
    ? `The user did not take the changed tools of ${server}, and says what to do instead: ${say}`
    : `The user did not take the changed tools of ${server}.`;
  return {
    decision: "deny",
    ...record,
    asked: { reason, ...(say ? { say } : {}), ...unanswered },
    reason: words,
  };
}
