/** Programs that a test needs and that a machine may not have. */

import { spawnSync } from "node:child_process";

/** Returns true when the program can be run; says on one line that its tests are skipped when it cannot. */
export function hasProgram(name: string): boolean {
  const found = spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
  if (!found) process.stderr.write(`${name} is not installed: tests that need it are skipped\n`);
  return found;
}
