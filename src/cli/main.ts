/** The entry point: runs the command line of this process, which ends with it. */

import { run } from "./run.ts";
import { hasLostOutput, writeOut, writeUnexpected } from "./terminal-output.ts";

// Thrown on a timer, an emitter or a stream while nobody else listens, as an open session does.
process.on("uncaughtException", (error) => {
  if (process.listenerCount("uncaughtException") > 1) return;
  process.exitCode = 1;
  writeUnexpected(error, () => process.exit(1));
});

process.exitCode = await run(process.argv.slice(2));
// Open sockets or a stdin that never ends must not keep the process alive: all output is written by now.
writeOut("", () => {
  if (hasLostOutput()) process.exitCode = 1;
  process.exit();
});
