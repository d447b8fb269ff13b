/** Entries of the ledger as programs read them. Pure. */

import type { Egress } from "../../core/network/egress.ts";

/** Returns an entry of the ledger with the field names of the wire. */
export function wireEgress(entry: Egress) {
  const { host, port, decision, reason, rule, command, program, connections, ms } = entry;
  return {
    ...{ host, port, decision },
    ...(reason ? { reason } : {}),
    ...(rule ? { rule } : {}),
    ...(command ? { command } : {}),
    ...(program ? { process: program } : {}),
    ...{ bytes_up: entry.bytesUp, bytes_down: entry.bytesDown, connections, duration_ms: ms },
  };
}
