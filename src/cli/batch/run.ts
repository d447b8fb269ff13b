/** Connects a batch to sessions, locks and processes. */

import { type CheckProcesses, endFamily } from "../../app/machine.ts";
import { packagePath } from "../../app/prompts.ts";
import { claimFolder, spentIn } from "../../app/stored-sessions.ts";
import type { BatchPorts } from "./task-run.ts";

/** `processes`: runs checks and set-ups of tasks. */
export const batchPorts = (processes: CheckProcesses): BatchPorts => ({
  processes,
  program: packagePath("bin/sawtooth.js"),
  claim: claimFolder,
  spent: spentIn,
  endFamily,
});
