/** Words a call of a server's tool by a command, in one line. Pure. */

import type { ServerCalled } from "../events.ts";
import { formatBytes } from "../network/egress.ts";

const outcomes = {
  ok: "answered",
  error: "failed",
  refused: "refused: no running command named it",
  cancelled: "cancelled",
} as const;

/** Describes a call: `a command called github/list_issues: answered in 0.3 s, 1.2 kB`. */
export function serverCallText({ server, tool, outcome, durationMs, bytes }: ServerCalled): string {
  const how = outcome === "refused" ? "" : ` in ${(durationMs / 1000).toFixed(1)} s, ${formatBytes(bytes)}`;
  return `a command called ${server}/${tool}: ${outcomes[outcome]}${how}`;
}
