/**
 * Before any test: the program as it is installed, and those that tests start, built from the present sources unless that
 * was done before.
 */

import { execFileSync } from "node:child_process";
import { globSync, statSync, utimesSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPrograms } from "./build-programs.ts";
import { programsFolder } from "./programs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Folders too: theirs is the time at which a file was added or removed. */
const inputs = ["src", "src/**", "scripts/build.ts", "package.json", "node_modules/.package-lock.json"];
const programInputs = [...inputs, "test/support", "test/support/*"];

export default async function build(): Promise<void> {
  buildProgram();
  if (newest([`${programsFolder}/*`]) <= newest(programInputs)) await buildPrograms();
}

// A build in the middle of another run of the tests would take the program away from that one.
function buildProgram(): void {
  if (newest(["dist/*"]) > newest(inputs)) return;
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  // What came out as it was before is not written anew.
  utimesSync(join(root, "dist/main.js"), new Date(), new Date());
}

/** When the newest of these was changed, in milliseconds; 0 when there are none. */
function newest(patterns: string[]): number {
  const times = globSync(patterns, { cwd: root }).map((path) => statSync(resolve(root, path)).mtimeMs);
  return times.reduce((latest, time) => Math.max(latest, time), 0);
}
