/** Counts the calls that commands of the shell made of tools of servers. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { allOf } from "../../core/questions.ts";

/** Calls of one tool by commands. `tool`: `server/tool`; `failed`: without a result; `bytes`: of what they printed. */
export type CommandCalls = { tool: string; calls: number; failed: number; bytes: number };

/** Returns a row for each tool, in the order of the first calls. */
export function commandCalls(events: readonly LogEvent[]): CommandCalls[] {
  const rows = new Map<string, CommandCalls>();
  for (const { server, tool, outcome, bytes } of allOf(events, "mcp_called")) {
    const name = `${server}/${tool}`;
    const row = rows.get(name) ?? { tool: name, calls: 0, failed: 0, bytes: 0 };
    row.calls += 1;
    row.failed += outcome === "ok" ? 0 : 1;
    row.bytes += bytes;
    rows.set(name, row);
  }
  return [...rows.values()];
}
