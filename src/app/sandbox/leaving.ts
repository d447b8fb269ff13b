/** Gathers what a person has to know before a command leaves the sandbox. */

import { statSync } from "node:fs";
import { homedir } from "node:os";
import type { LogEvent } from "../../core/events.ts";
import type { Access, EventLog } from "../../core/ports.ts";
import type { Snapshots } from "../../core/undo-port.ts";
import { realTarget } from "../../disk/real-path.ts";
import { type FileEdit, leavingNotes, namedFiles } from "../../permissions/named-files.ts";

/** Returns a function from a command that leaves to its notes. `workspace`: real folders. */
export function notesOnLeaving(
  { log }: { log: Pick<EventLog, "events"> },
  { snapshots }: { snapshots: Pick<Snapshots, "list"> },
  workspace: readonly string[],
) {
  return async (access: Access): Promise<string[] | undefined> => {
    if (access.kind !== "execute" || !access.outside) return undefined;
    const { cwd } = access.outside;
    const files = namedFiles(access.command, { cwd, home: homedir(), realPath: realTarget }, isFile);
    return leavingNotes(cwd, files, await editsOf(log.events(), snapshots), workspace);
  };
}

/** Lists the changes of files in the order of the steps, those by commands too. */
async function editsOf(events: readonly LogEvent[], snapshots: Pick<Snapshots, "list">): Promise<FileEdit[]> {
  const replies = events.filter(({ type }) => type === "assistant_message");
  const rows = await snapshots.list();
  return rows.flatMap(({ at, files }) => {
    const step = replies.filter((reply) => reply.at <= at).length;
    return files.map(({ path }) => ({ path, step }));
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
