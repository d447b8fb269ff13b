/** `sawtooth egress`: the connections that a session's commands made, and those that were refused. Pure. */

import { plural } from "../../context/report/amounts.ts";
import { type EgressRow, egressRows, egressTotals } from "../../context/report/egress.ts";
import type { LogEvent } from "../../core/events.ts";
import { egressReason, formatBytes, hostText } from "../../core/network/egress.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { cut, filled } from "./columns.ts";

/** Returns the ledger in 100 columns: a line for each host and command, with the reason where something was refused. */
export function egressReport(events: readonly LogEvent[]): string {
  const rows = egressRows(events);
  if (rows.length === 0)
    return "No command of this session connected to a host, or its network was not watched.\n";
  const { hosts, up, down, refused } = egressTotals(rows);
  const sum = `${plural(hosts, "host")}: sent ${formatBytes(up)}, received ${formatBytes(down)}`;
  const head = `${sum}${refused > 0 ? `; refused: ${plural(refused, "host")}` : ""}`;
  return [head, "", ...rows.flatMap(lines), ""].join("\n");
}

function lines(row: EgressRow): string[] {
  const { decision, rule, by, bytesUp, bytesDown, connections } = row;
  const outcome = decision === "allow" ? "" : decision === "cut" ? "cut" : "refused";
  const moved =
    decision === "deny" ? "" : `${formatBytes(bytesUp)} up, ${formatBytes(bytesDown)} down, ${connections}×`;
  const why = [rule, egressReason(row)].filter((part) => part !== undefined).join("; ");
  return [
    `${filled(outcome, 8)} ${filled(cleanLine(hostText(row)), 40)} ${moved}`.trimEnd(),
    cut(`         ${[cleanLine(by), cleanLine(why)].filter((part) => part !== "").join("  ")}`, 100),
  ];
}
