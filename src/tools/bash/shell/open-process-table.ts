/** Chooses the reader of the process table. */

import { existsSync } from "node:fs";
import type { ProcessTable } from "./process-table.ts";
import { procTable } from "./process-table-proc.ts";
import { psTable } from "./process-table-ps.ts";

/** Returns the reader that fits this machine. */
export function openProcessTable(): ProcessTable {
  return existsSync("/proc/self/stat") ? procTable() : psTable();
}
