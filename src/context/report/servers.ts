/**
 * Counts the tokens of each server of tools (MCP) in the window: lines that name it, schemas that were read, results; and
 * the calls that commands of the shell made of their tools. Pure.
 */

import type { Block } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { allOf, eventAt, findCall, indexFrom } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { PolicyInput } from "../policies/policy-input.ts";
import { blockTokens, textTokens } from "../view/tokens.ts";

/** Calibrated tokens of the next request. `catalogue`: lines that name its tools. */
export type ServerShare = { name: string; catalogue: number; schemas: number; results: number };

type Part = Exclude<keyof ServerShare, "name">;

/** Returns a share for each server that the session knows, in the order of their first mention. */
export function serverShares({ events, view, calibration }: PolicyInput): ServerShare[] {
  const shares = new Map<string, ServerShare>();
  const add = (name: string, part: Part, tokens: number): void => {
    const share = shares.get(name) ?? { name, catalogue: 0, schemas: 0, results: 0 };
    share[part] += tokens * calibration;
    shares.set(name, share);
  };
  for (const { seq, blocks } of view.entries) {
    const event = eventAt(events, seq);
    if (event?.type === "user_message" || event?.type === "reminder") addLines(event, blocks, add);
    if (event?.type !== "tool_result") continue;
    const call = findCall(events, event.toolUseId, indexFrom(events, seq));
    const [name, part] = ownerOf(call?.name, (call?.input ?? {}) as Record<string, unknown>);
    if (name) for (const block of blocks) add(name, part, blockTokens(block));
  }
  return [...shares.values()].map(({ name, ...parts }) => ({
    name,
    catalogue: Math.round(parts.catalogue),
    schemas: Math.round(parts.schemas),
    results: Math.round(parts.results),
  }));
}

/** The folder of a server's files, below that of its session. */
const folder = /\/mcp\/([\w.-]+)\//;

/** Counts lines of ours that name the folder of a server: in the first message, and in later notes. */
function addLines(
  event: Extract<LogEvent, { type: "user_message" | "reminder" }>,
  blocks: readonly Block[],
  add: (name: string, part: Part, tokens: number) => void,
): void {
  const ours = event.type === "reminder" ? blocks : blocks.slice(0, event.preamble?.length ?? 0);
  for (const block of ours) {
    if (block.type !== "text") continue;
    for (const line of block.text.split("\n")) {
      const name = folder.exec(line)?.[1];
      if (name) add(name, "catalogue", textTokens(line));
    }
  }
}

/** Returns the server that a result belongs to: it was called, or a file about its tools was read. */
function ownerOf(tool: string | undefined, input: Record<string, unknown>): [string | undefined, Part] {
  if (tool === toolNames.mcp) return [typeof input.server === "string" ? input.server : undefined, "results"];
  return [folder.exec(`${input.path ?? ""} ${input.command ?? ""}`)?.[1], "schemas"];
}

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
