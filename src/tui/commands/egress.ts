/** `/egress`: lists the connections of the session's commands. */

import { egressRows } from "../../context/report/egress.ts";
import type { LogEvent } from "../../core/events.ts";
import { egressText } from "../../core/network/egress.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import type { Command } from "./command.ts";

export const egressCommands: readonly Command[] = [
  {
    name: "egress",
    summary: "hosts that commands connected to, with bytes and rules, and those that were refused",
    run: (_, { events, columns, print }) => print(ledgerRows(events, columns)),
  },
];

function ledgerRows(events: readonly LogEvent[], columns: number): Row[] {
  const rows = egressRows(events);
  if (rows.length === 0) return [[{ text: "  No command connected to a host", tone: "dim" }]];
  return rows.flatMap((row): Row[] => [
    ...wrap(
      [{ text: row.decision === "allow" ? "    " : "  ! ", tone: "warn" }, { text: safe(egressText(row)) }],
      columns,
      "    ",
    ),
    ...wrap(
      [{ text: `      ${[row.by, row.rule ?? ""].map(safe).join("  ").trimEnd()}`, tone: "dim" }],
      columns,
      "      ",
    ),
  ]);
}
