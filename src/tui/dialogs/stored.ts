/** Stored sessions as items of a list, with the end of each conversation. Pure. */

import { plural } from "../../context/report/amounts.ts";
import type { LogEvent } from "../../core/events.ts";
import { typedText } from "../blocks/event-rows.ts";
import { formatDollars } from "../blocks/status.ts";
import type { PickItem, PickRequest, Sessions, StoredSession } from "../ports/sessions.ts";
import { type Row, safe } from "../rows/rows.ts";

/** Lists the sessions, this folder's first. `now`: milliseconds since 1970. */
export function sessionsRequest(sessions: Sessions, now: number): PickRequest {
  const known = new Map<string, StoredSession>();
  const items = (everywhere: boolean) =>
    sessions.list(everywhere).map((session) => {
      known.set(session.id, session);
      return sessionItem(session, now, everywhere);
    });
  return {
    title: "Sessions of this folder",
    items: items(false),
    enter: "opens",
    empty: "No other session is stored for this folder",
    wider: {
      title: "Sessions of all folders",
      label: "all folders",
      back: "this folder",
      items: () => items(true),
    },
    preview: (id) => ({ rows: previewOf(sessions.tail(id), known.get(id)), keep: "end" }),
  };
}

/** Returns true when there is nothing to choose, in any folder. */
export function isEmpty({ items, wider }: PickRequest): boolean {
  return items.length === 0 && (wider?.items().length ?? 0) === 0;
}

function sessionItem(session: StoredSession, now: number, everywhere: boolean): PickItem {
  const { id, name, title, shortCwd, changed, turns, cost, openIn } = session;
  return {
    id,
    label: name ? `${name}: ${title}` : title,
    facts: [
      ago(now - changed),
      ...(everywhere ? [shortened(shortCwd)] : []),
      plural(turns, "turn"),
      ...(cost > 0 ? [formatDollars(cost)] : []),
    ],
    mark: openIn === undefined ? undefined : "in use",
    words: `${id} ${everywhere ? shortCwd : ""}`,
  };
}

/** Shortens a path from its beginning, because the end says more. */
function shortened(path: string): string {
  return path.length <= 24 ? path : `…${path.slice(-23).toWellFormed()}`;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats an age in one unit: "just now", "5 min ago", "3 h ago", "2 days ago". */
export function ago(ms: number): string {
  if (ms < minute) return "just now";
  if (ms < hour) return `${Math.floor(ms / minute)} min ago`;
  if (ms < day) return `${Math.floor(ms / hour)} h ago`;
  return `${plural(Math.floor(ms / day), "day")} ago`;
}

/** Lines of a message that a preview shows. */
const shownLines = 6;

/** Shows the session's id and the end of its conversation, newest last. */
function previewOf(events: readonly LogEvent[], session: StoredSession | undefined): Row[] {
  const said = events.flatMap((event): Row[] => {
    if (event.type === "user_message") return linesOf(typedText(event), "› ", "strong");
    if (event.type !== "assistant_message") return [];
    const text = event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return linesOf(text, "  ");
  });
  return [...(session ? whereRows(session) : []), ...said];
}

function whereRows({ id, shortCwd, openIn }: StoredSession): Row[] {
  const openRow: Row[] =
    openIn === undefined
      ? []
      : [[{ text: `in use by ${safe(openIn)}: you can only open a branch of it`, tone: "warn" }]];
  return [...openRow, [{ text: `${id} in ${safe(shortCwd)}`, tone: "dim" }]];
}

/** Returns the first lines of a message that are not blank. */
export function linesOf(text: string, mark: string, tone?: Row[0]["tone"]): Row[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const shown = lines.slice(0, shownLines);
  const more = lines.length - shown.length;
  return [
    ...shown.map(
      (line, index): Row => [
        { text: index === 0 ? mark : "  ", tone: "accent" },
        { text: safe(line.slice(0, 1000)), tone },
      ],
    ),
    ...(more > 0 ? [[{ text: `  … ${plural(more, "more line")}`, tone: "dim" as const }]] : []),
  ];
}
