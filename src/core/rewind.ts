/** Finds the messages a session can go back to, and the state of the files at each. Pure. */

import type { EventOf, LogEvent } from "./events.ts";
import { lastOf } from "./questions.ts";
import type { FileChange, SnapshotRow } from "./undo-port.ts";

/** A message that a session can go back to. */
export type RewindPoint = {
  /** Seq of the user message. */
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  /** The user's text, to edit and resend; images appear by name only. */
  text: string;
  /** Number of events before the message, which a fork keeps (`forkSession`). */
  events: number;
};

/** Lists all messages of the user, oldest first. */
export function rewindPoints(events: readonly LogEvent[]): RewindPoint[] {
  return events.flatMap((event, index) =>
    event.type === "user_message"
      ? [{ seq: event.seq, at: event.at, text: textOf(event), events: index }]
      : [],
  );
}

/** Returns the point at this message; undefined when there is no such message. */
export function rewindTo(events: readonly LogEvent[], seq: number): RewindPoint | undefined {
  return rewindPoints(events).find((point) => point.seq === seq);
}

/**
 * The snapshot with the files as they were when the message was sent: the first that was taken for it or for a
 * later one. Undefined when nothing was written since.
 */
export function snapshotAtMessage(rows: readonly SnapshotRow[], seq: number): number | undefined {
  return rows.find(({ kind, turn }) => kind === "step" && turn >= seq)?.n;
}

/** Lists the files that changed since a snapshot, each once with its net change. */
export function changedFrom(rows: readonly SnapshotRow[], n: number): FileChange[] {
  const byPath = new Map<string, { was: boolean; is: boolean }>();
  for (const { path, status } of rows.filter((row) => row.n >= n).flatMap(({ files }) => files)) {
    const { was } = byPath.get(path) ?? { was: status !== "added" };
    byPath.set(path, { was, is: status !== "removed" });
  }
  return [...byPath].flatMap(([path, { was, is }]): FileChange[] =>
    was || is ? [{ path, status: was ? (is ? "changed" : "removed") : "added" }] : [],
  );
}

/** Returns the session's current name, if any. */
export function sessionName(events: readonly LogEvent[]): string | undefined {
  return lastOf(events, "session_named")?.name || undefined;
}

function textOf({ content }: EventOf<"user_message">): string {
  return content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}
