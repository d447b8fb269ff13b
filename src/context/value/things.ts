/** The things of a session, and which of them each reply uses: a line whose newest holder is that thing. Pure. */

import { isToolUse, resultText, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { type Observed, recordedKind } from "../reuse/kind.ts";
import { lineTable, writtenIn } from "../reuse/lines.ts";
import { blockTokens } from "../view/tokens.ts";
import { leastWritten, type Thing } from "./chance.ts";
import { hasFailed } from "./files.ts";

/**
 * An observation, or what the model wrote in a call. `seq`: the event of the result, or of the reply. `step`: the reply its
 * call is in. `since`: that, or the newest reply before this one that used it. `read`: the files it shows.
 */
export type Held = Pick<Thing, "kind" | "tokens"> & {
  seq: number;
  step: number;
  since: number;
  read: readonly string[];
  failed: boolean;
};

/** The things before a reply, oldest first, and what of that it used. `step`: its number, from 1. */
export type Answered = { step: number; things: readonly Held[]; used: ReadonlySet<Held> };

/** Reads a log event by event; returns what a reply used, and nothing for other events. Linear in the text. */
export function thingReader(): (event: LogEvent) => Answered | undefined {
  const table = lineTable();
  const holders = new Map<number, Held>();
  const calls = new Map<string, ToolUseBlock>();
  const things: Held[] = [];
  let step = 0;
  let newest: ReadonlySet<Held> = new Set();
  const hold = (thing: Held, texts: readonly string[]): void => {
    things.push(thing);
    for (const text of texts) for (const line of table.linesOf(text)) holders.set(line, thing);
  };
  const answered = ({ seq, content }: EventOf<"assistant_message">): Answered => {
    for (const thing of newest) thing.since = step;
    step += 1;
    const used = new Set<Held>();
    const before = things.slice();
    for (const text of writtenIn(content)) {
      for (const line of table.linesOf(text)) {
        const holder = holders.get(line);
        if (holder) used.add(holder);
        holders.delete(line);
      }
    }
    for (const call of content.filter(isToolUse)) {
      calls.set(call.id, call);
      const tokens = blockTokens(call);
      if (tokens >= leastWritten)
        hold({ kind: "written", tokens, seq, step, since: step, read: [], failed: false }, writtenIn([call]));
    }
    newest = used;
    return { step, things: before, used };
  };
  return (event) => {
    if (event.type === "assistant_message") return answered(event);
    const call = event.type === "tool_result" && !event.rejected ? calls.get(event.toolUseId) : undefined;
    if (event.type === "tool_result" && call)
      hold(heldOf(event, recordedKind(call, event), step), [resultText(event.content)]);
    return undefined;
  };
}

function heldOf(event: EventOf<"tool_result">, { kind, read }: Observed, step: number): Held {
  const { content } = event;
  const tokens = blockTokens({ type: "tool_result", tool_use_id: event.toolUseId, content });
  return { kind, tokens, seq: event.seq, step, since: step, read, failed: hasFailed(event) };
}
