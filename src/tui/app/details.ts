/** The details view: one of the newest calls, thoughts or edits of the context in full, scrolled inside the live area. Pure. */

import { editWords, sentenceOf } from "../../context/view/edit-words.ts";
import { isToolUse, thoughtText } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { callTitle, detailRows, type RowContext } from "../blocks/tool-rows.ts";
import type { CallDetailsProps } from "../components/call-details.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import type { State } from "./state.ts";
import { rowContextOf } from "./state.ts";

type Item = { title: string; rows: Row[] };

/** Returns the view in at most `most` rows; undefined when it is closed. */
export function detailsView(
  state: State,
  events: readonly LogEvent[],
  most: number,
): (CallDetailsProps & { height: number }) | undefined {
  const { details } = state;
  if (!details) return undefined;
  const item = itemAt(state, events, details.back);
  if (!item)
    return { title: "Nothing to show yet. Press any key to close.", rows: [], hint: false, height: 1 };
  const page = Math.max(0, Math.min(most - 2, state.size.rows - 6));
  const first = Math.max(0, Math.min(details.scroll, item.rows.length - page));
  const rows = item.rows.slice(first, first + page);
  const part =
    item.rows.length > page ? `rows ${first + 1}–${first + rows.length} of ${item.rows.length}` : undefined;
  const hint = most > 1;
  return { title: item.title, rows, part, hint, height: 1 + rows.length + Number(hint) };
}

/** Finds calls, thoughts and edits of the context, newest first, reading no further back than needed. */
function itemAt(state: State, events: readonly LogEvent[], back: number): Item | undefined {
  const context = { ...rowContextOf(state), columns: state.size.columns - 4 };
  const results = new Map<string, EventOf<"tool_result">>();
  let [left, oldest]: [number, Item | undefined] = [back, undefined];
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "tool_result") results.set(event.toolUseId, event);
    for (const item of itemsOf(event, events, results, context)) {
      oldest = item;
      if (left === 0) return oldest;
      left -= 1;
    }
  }
  return oldest;
}

type Results = ReadonlyMap<string, EventOf<"tool_result">>;

/** Returns what an event has to show, newest first. `results`: those that came after it, by call. */
function* itemsOf(
  event: LogEvent | undefined,
  events: readonly LogEvent[],
  results: Results,
  context: RowContext,
): Generator<Item> {
  const text = (words: string): Row[] =>
    words.split("\n").flatMap((line) => wrap([{ text: safe(line) }], context.columns));
  if (event?.type === "context_edited")
    yield { title: "edit of the context", rows: text(sentenceOf(editWords(event, events))) };
  if (event?.type !== "assistant_message") return;
  for (const block of event.content.toReversed()) {
    if (isToolUse(block))
      yield {
        title: callTitle(block, context).verb,
        rows: detailRows(block, results.get(block.id), context),
      };
    else if (block.type !== "text" && thoughtText(block) !== "")
      yield { title: "thinking", rows: text(thoughtText(block)) };
  }
}
