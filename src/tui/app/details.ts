/** The details view: one of the newest calls in full, scrolled inside the live area. Pure. */

import { isToolUse } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { callTitle, detailRows } from "../blocks/tool-rows.ts";
import { cut, type Row, safe, wrap } from "../rows/rows.ts";
import type { Overlay } from "./live.ts";
import type { State } from "./state.ts";
import { aroundOf } from "./state.ts";

type Item = { title: string; rows: Row[] };

/** The rows of the view, fewer than the window has; undefined when it is closed. */
export function detailsOf(state: State, events: readonly LogEvent[]): Overlay | undefined {
  const { details, size } = state;
  if (!details) return undefined;
  const item = itemAt(state, events, details.back);
  if (!item) return { rows: [[{ text: "  nothing to look at yet; any key closes this", tone: "dim" }]] };
  const page = Math.max(1, size.rows - 6);
  const first = Math.max(0, Math.min(details.scroll, item.rows.length - page));
  const shown = item.rows.slice(first, first + page);
  const part =
    item.rows.length > page ? ` · rows ${first + 1}–${first + shown.length} of ${item.rows.length}` : "";
  const rows: Row[] = [
    [{ text: cut(`  ${item.title}`, size.columns), tone: "strong" }],
    ...shown.map((row): Row => [{ text: "  │ ", tone: "dim" }, ...row]),
    [{ text: cut(`  ←→ other calls · ↑↓ scroll · Esc closes${part}`, size.columns), tone: "dim" }],
  ];
  return { rows };
}

/** Calls and thoughts, the newest first; only as far back as is asked for. */
function itemAt(state: State, events: readonly LogEvent[], back: number): Item | undefined {
  const around = { ...aroundOf(state), columns: state.size.columns - 4 };
  const results = new Map<string, EventOf<"tool_result">>();
  let [left, oldest]: [number, Item | undefined] = [back, undefined];
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "tool_result") results.set(event.toolUseId, event);
    if (event?.type !== "assistant_message") continue;
    for (const one of event.content.toReversed()) {
      if (
        one.type === "text" ||
        one.type === "redacted_thinking" ||
        (one.type === "thinking" && one.thinking === "")
      )
        continue;
      oldest = isToolUse(one)
        ? { title: callTitle(one, around).verb, rows: detailRows(one, results.get(one.id), around) }
        : {
            title: "thinking",
            rows: one.thinking.split("\n").flatMap((line) => wrap([{ text: safe(line) }], around.columns)),
          };
      if (left === 0) return oldest;
      left -= 1;
    }
  }
  return oldest;
}
