/** What a batch needs of sessions, locks and processes. */

import { basename, dirname } from "node:path";
import { packagePath } from "../../app/prompts.ts";
import { UsageError } from "../../core/errors.ts";
import type { LogEvent } from "../../core/events.ts";
import { spending } from "../../core/questions.ts";
import { SessionError, SessionLocked } from "../../session/errors.ts";
import { sessionFolders } from "../../session/listing.ts";
import { lockFolder } from "../../session/lock.ts";
import { readSession } from "../../session/store.ts";
import { openProcessTable } from "../../tools/bash/shell/open-process-table.ts";
import { signal } from "../../tools/bash/shell/process-table.ts";
import type { CheckProcesses } from "../checks/check.ts";
import type { BatchPorts } from "./task-run.ts";

/** `processes`: how checks and set-ups of tasks are run. */
export const batchPorts = (processes: CheckProcesses): BatchPorts => ({
  processes,
  program: packagePath("bin/sawtooth.js"),
  claim(folder, shown) {
    try {
      return lockFolder(folder, shown);
    } catch (error) {
      if (!(error instanceof SessionLocked)) throw error;
      throw new UsageError(`${shown} is in use by process ${error.pid}: let it end, or name another --out`);
    }
  },
  spent(sessions) {
    const logs = sessionFolders(sessions).map((folder) => ({ folder, events: readEvents(folder) }));
    const all = logs.filter(({ events }) => events.length > 0).map(({ events }) => spending(events));
    return {
      turns: all.reduce((sum, { turns }) => sum + turns, 0),
      cost: all.reduce((sum, { cost }) => sum + cost, 0),
      sessionId: logs[0] ? basename(logs[0].folder) : null,
    };
  },
  endFamily(variable, value) {
    const { all, variableOf } = openProcessTable();
    for (const { pid } of all())
      if (pid !== process.pid && variableOf(pid, variable) === value) signal(pid, "SIGKILL");
  },
});

/** Of a session that another process may have been killed over; nothing when its log holds nothing. */
function readEvents(folder: string): readonly LogEvent[] {
  try {
    return readSession({ root: dirname(dirname(folder)), id: basename(folder), warn: () => {} }).events;
  } catch (error) {
    if (error instanceof SessionError) return [];
    throw error;
  }
}
