/** The search path without detours: a version manager's `python3` is a shell script that starts a dozen programs. */

import { spawnSync } from "node:child_process";
import { dirname } from "node:path";

/** `PATH`, with the folder of the Python that it leads to in front. */
export function pathToPython(): string {
  const { PATH = "" } = process.env;
  const words = ["-c", "import sys; print(sys.executable)"];
  const { status, stdout } = spawnSync("python3", words, { encoding: "utf8" });
  const folder = dirname(stdout?.trim() ?? "");
  const known = PATH.split(":");
  return status !== 0 || known.includes(folder) ? PATH : [folder, ...known].join(":");
}
