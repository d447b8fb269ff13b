/** The checks of `sawtooth doctor` on servers of tools (MCP): each is started once. */

import { checkServers, type ServerCheck } from "../../app/mcp/check-servers.ts";
import { type ListedServer, listedServers } from "../../app/mcp/listing.ts";
import { plural } from "../../context/report/amounts.ts";
import { exitCodeOf } from "../../core/errors.ts";
import type { Check } from "./doctor-models.ts";

/** Runs the checks; none without servers. A server that cannot be used stops no work. */
export async function serverChecks(env: Record<string, string | undefined>, cwd: string): Promise<Check[]> {
  try {
    const { servers } = await listedServers({ env, cwd });
    const started = await checkServers(env, cwd);
    return [...started.map(startedCheck), ...servers.flatMap(otherCheck)];
  } catch (error) {
    // Broken settings have a check of their own.
    if (exitCodeOf(error) === undefined) throw error;
    return [];
  }
}

function startedCheck(server: ServerCheck): Check {
  const time = `${(server.ms / 1000).toFixed(1)} s`;
  const { name } = server;
  if ("problem" in server)
    return {
      name: "mcp",
      state: "note",
      says: `${name}: ${server.problem}`,
      advice: `sawtooth mcp get ${name} shows its entry`,
    };
  const says = `${name}: ${plural(server.tools, "tool")} in ${time}, protocol ${server.protocol}`;
  if (!server.changed) return { name: "mcp", state: "ok", says };
  return {
    ...{ name: "mcp", state: "note", says: `${says}; its tools changed since you saw them` },
    advice: "sawtooth mcp review shows the difference",
  };
}

function otherCheck({ name, state, problem, from }: ListedServer): Check[] {
  if (state === "unusable")
    return [{ name: "mcp", state: "note", says: problem ?? `${name} cannot be used` }];
  if (from === "settings" || (state !== "new" && state !== "changed")) return [];
  const says = `${name}, a server of this project's .mcp.json, is not used: you have not allowed it`;
  return [{ name: "mcp", state: "note", says, advice: "sawtooth mcp review shows what it does, and asks" }];
}
