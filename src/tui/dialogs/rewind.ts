/** Going back: the messages to go back to, and the choice of conversation, files or both. Pure. */

import { asReminder } from "../../context/reminders/wording.ts";
import { plural } from "../../context/report/amounts.ts";
import type { EventBody, EventOf, LogEvent } from "../../core/events.ts";
import { allOf, started } from "../../core/questions.ts";
import {
  changedFrom,
  type RewindPoint,
  rewindTo,
  sessionName,
  snapshotAtMessage,
} from "../../core/rewind.ts";
import { type FileChange, keptNotice, type SnapshotRow } from "../../core/undo-port.ts";
import { typedText } from "../blocks/event-rows.ts";
import type { Open, PickRequest } from "../ports/sessions.ts";
import { type Row, safe } from "../rows/rows.ts";
import { ago, linesOf } from "./stored.ts";

/** A message, the snapshot with the files at that time (undefined when they are unchanged), and the changes since. */
export type RewindTarget = { point: RewindPoint; snapshot: number | undefined; files: FileChange[] };

/** Returns the target at the message with this seq; undefined when there is no such message. */
export function rewindTargetAt(
  events: readonly LogEvent[],
  rows: readonly SnapshotRow[],
  seq: number,
): RewindTarget | undefined {
  const point = rewindTo(events, seq);
  if (!point) return undefined;
  const files = filesSince(rows, seq);
  return { point, files, snapshot: files.length === 0 ? undefined : snapshotAtMessage(rows, seq) };
}

/** Lists all messages of the user, newest first, each with the files that changed since. */
export function messagesRequest(
  events: readonly LogEvent[],
  rows: readonly SnapshotRow[],
  now: number,
): PickRequest {
  const messages = allOf(events, "user_message").toReversed();
  return {
    title: "Rewind to before a message",
    enter: "chooses",
    empty: "No messages yet",
    items: messages.map((message) => ({
      id: String(message.seq),
      label: typedText(message).replaceAll(/\s+/g, " ").trim().slice(0, 400) || "[image]",
      facts: [ago(now - message.at), filesFact(filesSince(rows, message.seq))],
    })),
    preview: (id) => ({ rows: messagePreview(events, rows, Number(id)), keep: "beginning" }),
  };
}

function filesFact(files: readonly FileChange[]): string {
  return files.length > 0 ? plural(files.length, "file") : "";
}

function filesSince(rows: readonly SnapshotRow[], seq: number): FileChange[] {
  const snapshot = snapshotAtMessage(rows, seq);
  return snapshot === undefined ? [] : changedFrom(rows, snapshot);
}

function messagePreview(events: readonly LogEvent[], rows: readonly SnapshotRow[], seq: number): Row[] {
  const message = events.find(
    (event): event is EventOf<"user_message"> => event.type === "user_message" && event.seq === seq,
  );
  const files = filesSince(rows, seq);
  return [
    ...(message ? linesOf(typedText(message), "› ", "strong") : []),
    ...(files.length > 0 ? [dim("Changed since:"), ...fileRows(files, cwdOf(events))] : []),
  ];
}

function cwdOf(events: readonly LogEvent[]): string {
  return started(events).cwd;
}

const marks: Record<FileChange["status"], string> = { added: "+", changed: "~", removed: "-" };

function fileRows(files: readonly FileChange[], cwd: string): Row[] {
  return files.map(({ path, status }): Row => {
    const near = path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
    const tone = status === "added" ? "good" : status === "removed" ? "bad" : "warn";
    return [{ text: `${marks[status]} `, tone }, { text: safe(near) }];
  });
}

function dim(text: string): Row {
  return [{ text, tone: "dim" }];
}

/** Lists what can go back to that message. `jobs`: number of background jobs, which end with the session. */
export function restoreRequest(target: RewindTarget, events: readonly LogEvent[], jobs: number): PickRequest {
  const { files, snapshot } = target;
  const both = { id: "both", label: "Conversation and files", facts: [] };
  const conversation = { id: "conversation", label: "Conversation only", facts: [] };
  const filesOnly = { id: "files", label: "Files only", facts: [] };
  const ends = `${plural(jobs, "background job")} will end, but for those that are kept (/jobs).`;
  const branch = [
    dim("Continues in a branch with a new shell. This session stays stored as it is."),
    ...(jobs > 0 ? [[{ text: ends, tone: "warn" as const }]] : []),
  ];
  const back = [
    dim(`${plural(files.length, "file")} as before that message:`),
    ...fileRows(inverse(files), cwdOf(events)),
  ];
  const unchanged = dim(
    snapshot === undefined ? "No file has changed since." : "The files stay as they are now.",
  );
  const previews: Record<string, Row[]> = {
    both: [...back, ...branch],
    conversation: [unchanged, ...branch],
    files: [...back, dim("The conversation continues here.")],
  };
  return {
    title: "What should be restored?",
    few: true,
    enter: "does it",
    empty: "",
    items: snapshot === undefined ? [conversation] : [both, conversation, filesOnly],
    preview: (id) => ({ rows: previews[id] ?? [], keep: "beginning" }),
  };
}

function inverse(files: readonly FileChange[]): FileChange[] {
  const of = { added: "removed", changed: "changed", removed: "added" } as const;
  return files.map(({ path, status }) => ({ path, status: of[status] }));
}

/** Returns how to continue before that message. `filesStay`: the files keep their later content. */
export function branchBefore(
  { point, files }: RewindTarget,
  events: readonly LogEvent[],
  filesStay: boolean,
): Open {
  const earlier = events.slice(0, point.events);
  const message = events[point.events];
  const name = sessionName(events);
  const append: EventBody[] = name && sessionName(earlier) !== name ? [{ type: "session_named", name }] : [];
  // A model that has not replied yet knows nothing of any file.
  if (filesStay && files.length > 0 && earlier.some(({ type }) => type === "assistant_message"))
    append.push({ type: "reminder", channel: "logged", text: asReminder(keptNotice(files)) });
  return {
    type: "open",
    resume: started(events).sessionId,
    fork: true,
    events: point.events,
    draft: message?.type === "user_message" ? typedText(message) : point.text,
    append,
  };
}
