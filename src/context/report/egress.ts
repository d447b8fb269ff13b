/** Lists a session's connections as rows of a table. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { type Egress, foldEgress } from "../../core/network/egress.ts";
import { allOf, findCall } from "../../core/questions.ts";

/** `by`: the first line of the command that made them, or its process. */
export type EgressRow = Egress & { by: string };

/** Characters of a command that stand for it. */
const longestLine = 200;

/** Returns the connections of each command to each host, in the order in which they began. */
export function egressRows(events: readonly LogEvent[]): EgressRow[] {
  return foldEgress(allOf(events, "egress")).map((entry) => egressRow(events, entry));
}

/** The row of an entry of the ledger. */
export function egressRow(events: readonly LogEvent[], entry: Egress): EgressRow {
  return { ...entry, by: commandOf(events, entry) };
}

function commandOf(events: readonly LogEvent[], { command = "", program = "" }: Egress): string {
  const input = findCall(events, command)?.input as { command?: unknown } | undefined;
  const line = typeof input?.command === "string" ? input.command.trim().split("\n", 1)[0] : undefined;
  return line?.slice(0, longestLine) ?? (command.startsWith("job ") ? `${command}: ${program}` : program);
}

/** Returns the bytes sent and received over all connections. */
export function egressTotals(rows: readonly Egress[]): {
  hosts: number;
  up: number;
  down: number;
  refused: number;
} {
  const made = rows.filter(({ decision }) => decision !== "deny");
  return {
    hosts: new Set(made.map(({ host }) => host)).size,
    up: rows.reduce((sum, { bytesUp }) => sum + bytesUp, 0),
    down: rows.reduce((sum, { bytesDown }) => sum + bytesDown, 0),
    refused: new Set(rows.filter(({ decision }) => decision === "deny").map(({ host }) => host)).size,
  };
}
