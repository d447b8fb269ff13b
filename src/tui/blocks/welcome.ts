/** The beginning of a session on screen: the folder, and the end of the earlier conversation. Pure. */

import { plural } from "../../context/report/amounts.ts";
import type { LogEvent } from "../../core/events.ts";
import { currentModel, started } from "../../core/questions.ts";
import { type Row, safe } from "../rows/rows.ts";
import type { RowContext } from "./tool-rows.ts";
import { addEvent, emptyTranscript } from "./transcript.ts";

/** Returns rows with version and folder, and for a branch its origin. */
export function welcomeRows(events: readonly LogEvent[], version: string, shortCwd: string): Row[] {
  const { model } = currentModel(events);
  const { sessionId, parent } = started(events);
  const branch: Row[] = parent
    ? [[{ text: `  session ${sessionId}, a branch of ${parent}`, tone: "dim" }]]
    : [];
  return [
    [
      { text: "  Sawtooth", tone: "heading" },
      { text: ` ${version}  ${safe(model.id)}`, tone: "dim" },
    ],
    [{ text: `  ${safe(shortCwd)}  /help lists keys and commands`, tone: "dim" }],
    ...branch,
  ];
}

/** User messages that are shown again. */
const shownMessages = 3;
/** Events read for that: only the end of a turn of hundreds of steps is shown. */
const shownEvents = 200;

/** Returns the newest turns of a resumed session. */
export function pastRows(events: readonly LogEvent[], context: RowContext): Row[] {
  const said = events.filter(({ type }) => type === "user_message");
  if (said.length === 0) return [];
  const from = said.at(-shownMessages)?.seq ?? 0;
  const hidden = said.length - shownMessages;
  const newest = events.slice(-shownEvents).filter(({ seq }) => seq >= from);
  let transcript = emptyTranscript();
  const rows: Row[] = [];
  for (const event of newest) {
    const added = addEvent(transcript, event, events, context);
    transcript = added.transcript;
    rows.push(...added.rows);
  }
  const first: Row[] =
    hidden > 0
      ? [
          [],
          [
            {
              text: `  … ${plural(hidden, "earlier message")} of session ${started(events).sessionId}`,
              tone: "dim",
            },
          ],
        ]
      : [];
  return [...first, [], ...rows];
}
