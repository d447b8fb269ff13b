/** The entry point: runs the command line of this process, which ends with it. */

import { run } from "./run.ts";
import { writeOut } from "./terminal-output.ts";

process.exitCode = await run(process.argv.slice(2));
// Open sockets or a stdin that never ends must not keep the process alive: all output is written by now.
writeOut("", () => process.exit());
