/** The undo of the session that is open, as the screen asks for it. */

import type { Run } from "../../app/session.ts";
import { asReminder } from "../../context/reminders/wording.ts";
import { started } from "../../core/questions.ts";
import { undoNotice } from "../../core/undo-port.ts";
import type { Undoing } from "../../tui/ports/sessions.ts";
import { snapshotsText, undoneText } from "../commands/undo.ts";

/** The undo of the session that is open. */
export function undoOf({ agent, snapshots, sessionId }: Run): Undoing {
  const { cwd } = started(agent.log.events());
  return {
    list: snapshots.list,
    text: async () => snapshotsText(sessionId, await snapshots.list(), { cwd, command: "/undo <number>" }),
    async put(choice) {
      const undone = await snapshots.undo(choice);
      if (!undone && choice.to !== undefined)
        return `there is no snapshot ${choice.to}: /undo list shows them`;
      if (!undone) return choice.redo ? "there is no undo to take back" : "there is nothing to undo";
      // The model would go on as if its changes still stood.
      if (undone.files.length > 0)
        agent.log.append({ type: "reminder", channel: "logged", text: asReminder(undoNotice(undone)) });
      return undoneText(undone, { cwd, command: "/undo redo" });
    },
  };
}
