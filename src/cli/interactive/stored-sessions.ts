/** The stored sessions and the undo of one, as the screen needs them. */

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename } from "node:path";
import type { Run } from "../../app/session.ts";
import { asReminder } from "../../context/reminders/wording.ts";
import { started } from "../../core/questions.ts";
import { redactor } from "../../core/redact.ts";
import { secretsOf } from "../../core/secrets.ts";
import { undoNotice } from "../../core/undo-port.ts";
import { SessionError } from "../../session/errors.ts";
import { findSession, listSessions, logFile, type SessionSummary, sessionAt } from "../../session/listing.ts";
import { holderOf } from "../../session/lock.ts";
import { readTail } from "../../session/read.ts";
import type { Sessions, StoredSession, Undoing } from "../../tui/ports/sessions.ts";
import { snapshotsText, undoneText } from "../commands/undo.ts";

/** Sessions that a list shows at most. */
const mostListed = 500;
/** Bytes of a log that hold the end of what was said. */
const tailBytes = 256 * 1024;

/** The sessions under `root`. `cwd`: the folder that counts as this one. `open`: id of the one that is no choice. */
export function sessionsUnder(root: string, cwd: string, open?: string): Sessions {
  const here = realpathSync(cwd);
  const hide = redactor(secretsOf(process.env));
  const stored = (summary: SessionSummary): StoredSession => ({
    ...summary,
    title: hide(summary.title),
    shortCwd: shortened(summary.cwd),
    heldBy: summary.id === open ? undefined : holderOf(summary.folder),
  });
  const folderOf = (id: string) => findSession({ root, cwd: here, id });
  return {
    list: (everywhere) =>
      listSessions(root, everywhere ? undefined : here, mostListed)
        .filter(({ id, turns, name }) => id !== open && (turns > 0 || name !== undefined))
        .map(stored),
    tail: (id) => readTail(logFile(folderOf(id)), tailBytes),
    find(which) {
      const folder = folderOf(which);
      const summary = sessionAt(folder);
      if (!summary) throw new SessionError(`session ${basename(folder)} cannot be read: choose another one`);
      if (!existsSync(summary.cwd))
        throw new SessionError(`the folder of this session is gone: ${summary.cwd}`);
      return stored(summary);
    },
  };
}

/** A folder as a person calls it. */
export function shortened(cwd: string): string {
  const home = process.env.HOME ?? homedir();
  return cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
}

/** The undo of the session that is open. */
export function undoOf({ agent, snapshots, sessionId }: Run): Undoing {
  const { cwd } = started(agent.log.events());
  return {
    list: snapshots.list,
    text: async () => snapshotsText(sessionId, await snapshots.list(), { cwd, how: "/undo <number>" }),
    async put(choice) {
      const undone = await snapshots.undo(choice);
      if (!undone && choice.to !== undefined)
        return `there is no snapshot ${choice.to}: /undo list shows them`;
      if (!undone) return choice.redo ? "there is no undo to take back" : "there is nothing to undo";
      // The model would go on as if its changes still stood.
      if (undone.files.length > 0)
        agent.log.append({ type: "reminder", channel: "logged", text: asReminder(undoNotice(undone)) });
      return undoneText(undone, { cwd, how: "/undo redo" });
    },
  };
}
