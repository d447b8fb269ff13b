/** Events of the log as updates of the protocol. Pure. */

import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import { softWindow } from "../context/policies/window.ts";
import { editWords, sentenceOf } from "../context/view/edit-words.ts";
import { type AssistantBlock, isToolUse, type Search, thoughtText, type UserBlock } from "../core/blocks.ts";
import type { EventOf, LogEvent } from "../core/events.ts";
import { inputTotal } from "../core/model-card.ts";
import { currentEngine, currentModel, findCall, spending } from "../core/questions.ts";
import { knownTasks, tasksIn } from "../core/task-list.ts";
import { pageLines, searchesIn, searchLine } from "../core/text/search-text.ts";
import { shellOutput } from "../core/text/tags.ts";
import { endText, eventNote, type Note } from "../tui/blocks/notes.ts";
import { callOf, fenced, resultOf, type SeenCall, textContent, unfinished } from "./calls.ts";

/** The extensions that the client can show. */
export type Audience = { compaction: boolean; notices: boolean };

/** Returns the size of the context against the soft window, and the dollars so far where prices are known. */
export function usageOf(events: readonly LogEvent[]): SessionUpdate {
  const { model } = currentModel(events);
  const newest = events.findLast(
    (event): event is EventOf<"assistant_message"> =>
      event.type === "assistant_message" && inputTotal(event.usage) > 0,
  );
  const { cost } = spending(events);
  return {
    sessionUpdate: "usage_update",
    used: newest ? inputTotal(newest.usage) : 0,
    size: softWindow(model, currentEngine(events).engine.window).tokens,
    ...(cost > 0 || model.prices.output > 0 ? { cost: { amount: cost, currency: "USD" } } : {}),
  };
}

/** Returns the task list as it is now. */
function planOf(events: readonly LogEvent[]): SessionUpdate {
  const entries = tasksIn(knownTasks(events) ?? "").map(
    ({ text, status }): PlanEntry => ({ content: text, priority: "medium", status: statuses[status] }),
  );
  return { sessionUpdate: "plan", entries };
}

const statuses = { open: "pending", active: "in_progress", done: "completed" } as const;

/** Returns true for an event after which the task list may be another. */
function changesPlan(event: LogEvent): boolean {
  if (event.type === "reminder") return event.todo !== undefined;
  return event.type === "tool_result" && event.tasks !== undefined;
}

/** Returns the updates about an event besides replies, calls and results. `events`: the log up to it. */
export function asideOf(
  event: LogEvent,
  events: readonly LogEvent[],
  { cwd, audience, past }: { cwd: string; audience: Audience; past: boolean },
): SessionUpdate[] {
  if (changesPlan(event)) return [planOf(events)];
  switch (event.type) {
    case "context_edited":
      return audience.compaction ? [compactionOf(event, events)] : [];
    case "session_named":
      return [{ sessionUpdate: "session_info_update", title: event.name || null }];
    case "turn_ended":
      // The client hears of these as the answer to its prompt.
      if (!past && ["interrupted", "model_error", "error"].includes(event.reason)) return [];
      return noted(endText(event.reason, event.detail), event, { audience, past });
    default:
      return noted(eventNote(event, cwd), event, { audience, past });
  }
}

/** Returns an edit of the context with its reason and its price. */
function compactionOf(event: EventOf<"context_edited">, events: readonly LogEvent[]): SessionUpdate {
  return {
    sessionUpdate: "compaction_update",
    compactionId: `edit-${event.seq}`,
    status: "completed",
    summary: [{ type: "text", text: sentenceOf(editWords(event, events)) }],
  };
}

const severities = { warn: "warning", bad: "error", dim: "info", accent: "info" } as const;

/** A notice is of the moment; where there are none, or about the past, what matters is words of the agent. */
function noted(
  note: Note | undefined,
  { seq }: LogEvent,
  { audience, past }: { audience: Audience; past: boolean },
): SessionUpdate[] {
  if (!note) return [];
  const [tone, title] = note;
  if (audience.notices && !past) return [{ sessionUpdate: "notice", severity: severities[tone], title }];
  return tone === "warn" || tone === "bad" ? [said(`> ${title}\n\n`, `note-${seq}`)] : [];
}

/** Returns words of the agent. */
export function said(text: string, messageId: string): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } };
}

export function thought(text: string, messageId: string): SessionUpdate {
  return { sessionUpdate: "agent_thought_chunk", messageId, content: { type: "text", text } };
}

/** Joins the texts of a reply; where something stands between two of them, a blank line does. */
export function textOf(content: readonly AssistantBlock[]): string {
  let [text, apart] = ["", false];
  for (const block of content) {
    if (block.type === "text") text += apart && text !== "" ? `\n\n${block.text}` : block.text;
    apart = block.type !== "text";
  }
  return text;
}

export function thoughtsOf(content: readonly AssistantBlock[]): string {
  return content.map(thoughtText).filter(Boolean).join("\n\n");
}

/** Returns a search of the provider as a call that is over; none while it waits for its result. */
export function searchTold(search: Search): SessionUpdate[] {
  if (search.error === "none") return [];
  const pages = pageLines(search);
  return [
    {
      sessionUpdate: "tool_call",
      ...{ toolCallId: search.id, title: searchLine(search), name: "web_search", kind: "search" },
      status: search.error === undefined ? "completed" : "failed",
      ...(pages === "" ? {} : { content: [textContent(fenced(pages))] }),
    },
  ];
}

/** Returns the whole conversation so far, as it would have been told. */
export function replayed(
  events: readonly LogEvent[],
  { cwd, audience }: { cwd: string; audience: Audience },
): SessionUpdate[] {
  const results = new Map<string, EventOf<"tool_result">>();
  for (const event of events) if (event.type === "tool_result") results.set(event.toolUseId, event);
  let request = 0;
  const updates = events.flatMap((event): SessionUpdate[] => {
    if (event.type === "model_request") request = event.seq;
    if (event.type === "user_message") return userChunks(event);
    if (event.type === "assistant_message") return replyOf(event, request || event.seq, { results, cwd });
    return asideOf(event, [], { cwd, audience, past: true }).filter(
      ({ sessionUpdate }) => sessionUpdate !== "plan",
    );
  });
  const hasPlan = events.some(changesPlan);
  return [...updates, ...(hasPlan ? [planOf(events)] : []), usageOf(events)];
}

function userChunks({ seq, content, shell }: EventOf<"user_message">): SessionUpdate[] {
  const messageId = `user-${seq}`;
  const chunk = (block: UserBlock): SessionUpdate => ({
    sessionUpdate: "user_message_chunk",
    messageId,
    content:
      block.type === "text"
        ? { type: "text", text: block.text }
        : { type: "image", data: block.source.data, mimeType: block.source.media_type },
  });
  if (!shell) return content.map(chunk);
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return [
    chunk({ type: "text", text: `!${shell.command}` }),
    said(fenced(shellOutput(text, shell.command)), `note-${seq}`),
  ];
}

function replyOf(
  { content }: EventOf<"assistant_message">,
  request: number,
  { results, cwd }: { results: ReadonlyMap<string, EventOf<"tool_result">>; cwd: string },
): SessionUpdate[] {
  const [thoughts, words] = [thoughtsOf(content), textOf(content)];
  const calls = content.filter(isToolUse).map((call): SessionUpdate => {
    const result = results.get(call.id);
    const seen: SeenCall = { call, facts: result?.call, cwd };
    const ended = result ? resultOf(result, seen) : unfinished(call.id);
    return { sessionUpdate: "tool_call", ...callOf(call.id, seen), ...(ended as object) };
  });
  return [
    ...(thoughts ? [thought(thoughts, `thought-${request}`)] : []),
    ...searchesIn(content).flatMap(searchTold),
    ...(words ? [said(words, `reply-${request}`)] : []),
    ...calls,
  ];
}

/** Returns the call that an event is about; one that the log does not have is known by its name. */
export function callIn(events: readonly LogEvent[], id: string, name: string) {
  return findCall(events, id) ?? { name, input: {} };
}
