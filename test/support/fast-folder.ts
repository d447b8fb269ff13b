/** A temporary folder in memory: making and removing many small files on a disk was a tenth of the work of all tests. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const memory = "/dev/shm";
/** Many times what tests hold at once, in bytes. Containers often have 64 MB. */
const enough = 2 ** 31;

/** Makes it; it goes with this process. Undefined where there is none that is large and where programs may be run. */
export function fastFolder(): string | undefined {
  let made: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < enough) return undefined;
    // Short: paths below it are shown in terminals of 80 columns.
    const folder = mkdtempSync(join(memory, "s-"));
    made = folder;
    // As `/tmp` is: some tests run the program as another user.
    chmodSync(folder, 0o1777);
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    execFileSync(program);
    return folder;
  } catch {
    if (made) rmSync(made, { recursive: true, force: true });
    return undefined;
  }
}
