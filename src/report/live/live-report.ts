/** The report of a session that still works: a page, and after it messages with what changed. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { liveHtml } from "../page/html.ts";
import { pageReader } from "../page/page-reader.ts";
import { shortened } from "./shortened.ts";

/** Bytes of a message at most, with its frame. */
export const mostBytes = 5000;
/** Edits whose worth is looked at again in one update. */
const editsAtOnce = 10;

export type LiveReport = {
  take(events: readonly LogEvent[]): void;
  /** Brings the page up to date; returns false while there is more to do at the next call. */
  settle(): boolean;
  /** The page as it stands. */
  html(): string;
  revision(): number;
  /** A server-sent event with what changed since a revision, and the revision after it; undefined when nothing did. */
  message(since: number): { text: string; to: number } | undefined;
};

/** `generation`: part of the ids of messages, so that those of another log are not taken for this one's. */
export function liveReport(start: EventOf<"session_started">, generation: string): LiveReport {
  const { take, settle, changes } = pageReader(start);
  const idOf = (revision: number) => `${generation}.${revision}`;
  let page: { html: string; revision: number } | undefined;
  let newest: { since: number; at: number; message: { text: string; to: number } } | undefined;
  return {
    take: (events) => take(events.map(shortened)),
    settle: () => settle(editsAtOnce),
    revision: changes.revision,
    html() {
      const revision = changes.revision();
      if (page?.revision !== revision)
        page = { html: liveHtml(start, changes, { from: idOf(revision) }), revision };
      return page.html;
    },
    message(since) {
      const at = changes.revision();
      if (since >= at) return undefined;
      if (newest?.since === since && newest.at === at) return newest.message;
      const { to, changes: some } = changes.since(since, mostBytes - 100);
      const message = { text: `id: ${idOf(to)}\ndata: ${JSON.stringify(some)}\n\n`, to };
      newest = { since, at, message };
      return message;
    },
  };
}
