/** The log that the reader of a foreign recording writes: events in order of time, and what was left out. */

import { isToolUse } from "../../core/blocks.ts";
import { withOwnIds } from "../../core/call-ids.ts";
import type { EventBody, LogEvent } from "../../core/events.ts";
import type { ModelCard } from "../../core/model-card.ts";

export type Draft = {
  events: LogEvent[];
  /** Appends with the time of the recording, or that of the event before where it has none. Returns the seq. */
  append(at: number | undefined, body: EventBody): number;
  /** Counts an entry that is understood and is no part of the conversation. */
  leaveOut(kind: string): void;
  /** Counts an entry that is not understood. */
  puzzle(kind: string): void;
  leftOut: Map<string, number>;
  unknown: Map<string, number>;
};

/** A log that begins with what the recording tells of its session. */
export function draft(start: {
  at: number | undefined;
  sessionId: string;
  cwd: string;
  model: string;
  system?: string;
}): Draft {
  const events: LogEvent[] = [];
  const leftOut = new Map<string, number>();
  const unknown = new Map<string, number>();
  let awaitsInput = true;
  const own = ownIds();
  const append = (at: number | undefined, given: EventBody): number => {
    const body = own(givenFirst(given));
    // A recording may begin in the middle of a session, or miss a message: the API takes no reply to nothing.
    if (awaitsInput && body.type === "assistant_message")
      append(at, said(events.length > 1 ? gap : beginning));
    if (body.type === "user_message") awaitsInput = false;
    else if (body.type === "assistant_message") awaitsInput = !body.content.some(isToolUse);
    const before = events.at(-1)?.at ?? 0;
    const seq = events.length;
    // Recordings are written by several hands: a step back in time is no gap.
    events.push({ seq, at: Math.max(before, at ?? before), ...body });
    return seq;
  };
  const { at, sessionId, cwd, model, system = "" } = start;
  append(at, {
    type: "session_started",
    sessionId,
    cwd,
    folder: `recordings/${sessionId}`,
    model: cardOf(model),
    system,
    tools: [],
    context: "raw",
  });
  const counting = (counts: Map<string, number>) => (kind: string) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  };
  return { events, append, leaveOut: counting(leftOut), puzzle: counting(unknown), leftOut, unknown };
}

/** Gives calls ids of their own where the recorder gave one id to several; results take them in turn. */
function ownIds(): (body: EventBody) => EventBody {
  const taken = new Set<string>();
  const open = new Map<string, string[]>();
  return (body) => {
    if (body.type === "tool_result")
      return { ...body, toolUseId: open.get(body.toolUseId)?.shift() ?? body.toolUseId };
    if (body.type !== "assistant_message") return body;
    const content = withOwnIds(body.content, (id) => taken.has(id));
    open.clear();
    for (const [index, block] of content.entries()) {
      const recorded = body.content[index];
      if (block.type !== "tool_use" || recorded?.type !== "tool_use") continue;
      taken.add(block.id);
      open.set(recorded.id, [...(open.get(recorded.id) ?? []), block.id]);
    }
    return { ...body, content };
  };
}

const beginning = "[The recording begins here, in the middle of a session.]";
const gap = "[A message is missing here in the recording.]";

function said(text: string): EventBody {
  return { type: "user_message", content: [{ type: "text", text }] };
}

/** A summary before which there is nothing is what the session begins with. */
function givenFirst(body: EventBody): EventBody {
  const edit = body.type === "context_edited" ? body.edits[0] : undefined;
  return edit?.type === "collapse" && edit.to < edit.from ? said(edit.text.trim() || beginning) : body;
}

/** A recording names its model; what it cost there is not asked for. */
function cardOf(id: string): ModelCard {
  return {
    id,
    window: 1_000_000,
    maxOutput: 32_000,
    prices: { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    thinking: "none",
    contract: {
      history: "free",
      reminders: "logged",
      toolGating: "none",
      cache: { kind: "none", maxBreakpoints: 0, lookback: 0, minTokens: 0, ttls: [] },
    },
  };
}

/** The span that a summary of the recorded agent replaced: everything from the first event to `to`. */
export function compaction(to: number, text: string): EventBody {
  return {
    type: "context_edited",
    policy: "recorded",
    reason: "the recorded agent summarised here",
    edits: [{ type: "collapse", from: 1, to, text }],
    economics: {},
  };
}
