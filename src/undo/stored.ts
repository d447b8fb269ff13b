/** Opens the snapshots of stored sessions, for an undo from outside of them. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock } from "../core/ports.ts";
import { started } from "../core/questions.ts";
import type { Snapshots } from "../core/undo-port.ts";
import { SessionError } from "../session/errors.ts";
import { listSessions } from "../session/listing.ts";
import { type OpenSession, openSession } from "../session/store.ts";
import { openSnapshots } from "./snapshots.ts";

type Choice = {
  root: string;
  /** Absolute. */
  cwd: string;
  /** A prefix of the session's id; without it, the newest session of `cwd` that wrote anything. */
  id: string | undefined;
  clock: Clock;
  warn(text: string): void;
};

/** Opens them. Throws `SessionError`, or `SessionLocked` when another process has the session. */
export async function openStoredSnapshots(
  choice: Choice,
): Promise<OpenSession & { cwd: string; snapshots: Snapshots }> {
  const { root, cwd, clock, warn } = choice;
  const id =
    choice.id ?? listSessions(resolve(root), cwd).find(({ folder }) => existsSync(placeOf(folder)))?.id;
  if (id === undefined) throw new SessionError(`no session of ${cwd} changed files: nothing to undo`);
  const session = await openSession({ root, id, clock, warn });
  const options = { folder: placeOf(session.folder), roots: [], except: [resolve(root)], clock, warn };
  return { ...session, cwd: started(session.log.events()).cwd, snapshots: openSnapshots(options) };
}

function placeOf(folder: string): string {
  return join(folder, "snapshots");
}
