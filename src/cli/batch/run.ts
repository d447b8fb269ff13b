/** Connects a batch to sessions, locks and processes. */

import { type CheckProcesses, endFamily } from "../../app/machine.ts";
import { packagePath } from "../../app/prompts.ts";
import { spentIn } from "../../app/stored-sessions.ts";
import type { BatchPorts } from "./task-run.ts";

/** `processes`: runs checks and set-ups of tasks. */
export const batchPorts = (processes: CheckProcesses): BatchPorts => ({
  processes,
  program: packagePath("bin/sawtooth.js"),
  spent: spentIn,
  endFamily,
});
