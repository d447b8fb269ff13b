/** Ends the processes of killed runs on request. */

import type { Host } from "../ports/session.ts";

/** Runs `/jobs clean`; returns the outcome as one line. */
export async function endOrphans({ orphans }: Host): Promise<string> {
  const found = orphans.find();
  if (found.length === 0) return "no killed run left a process";
  await orphans.end();
  const rest = orphans.find();
  if (rest.length > 0) return `these could not be ended: ${rest.map(({ pid }) => pid).join(" ")}`;
  return `ended ${found.length === 1 ? "1 process" : `${found.length} processes`} of killed runs`;
}
