/** A session as the pieces a person reads: said, thought, done, noted. No escape sequences, no secrets. Pure. */

import { formatDuration, money, plural } from "../../context/report/amounts.ts";
import { editWords, sentenceOf } from "../../context/view/edit-words.ts";
import {
  isSearch,
  isToolUse,
  resultText,
  type Search,
  type ServerToolUseBlock,
  type ToolUseBlock,
  type WebSearchResultBlock,
} from "../../core/blocks.ts";
import { decisionText } from "../../core/decision.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { egressText } from "../../core/network/egress.ts";
import { currentModel, indexFrom, spending, started } from "../../core/questions.ts";
import { sessionName } from "../../core/rewind.ts";
import { cleanText } from "../../core/text/clean-text.ts";
import { delegateText } from "../../core/text/delegate-text.ts";
import { pageLines, searchesIn, searchLine } from "../../core/text/search-text.ts";
import { serverCallText } from "../../core/text/server-call-text.ts";
import { describeCall } from "../../core/tool-calls.ts";

export type Part =
  | { kind: "user" | "assistant" | "thinking" | "note"; text: string }
  /** `subject`: what the call is about, in one line. `input`: whole, where that says more. */
  | {
      kind: "call";
      tool: string;
      subject: string;
      input: string;
      output: string;
      failed: boolean;
      /** How it was decided; absent where nothing was recorded. */
      decision?: string;
    };

export type Export = {
  title: string;
  /** Name and value of what is told of the session as a whole. */
  facts: [name: string, value: string][];
  parts: Part[];
};

/** `redact` takes secrets out of a text. Throws when the log does not begin with `session_started`. */
export function exportOf(events: readonly LogEvent[], redact: (text: string) => string): Export {
  const clean = (text: string): string => cleanText(redact(text));
  const { sessionId, cwd, at } = started(events);
  const { model, effort } = currentModel(events);
  const { turns, cost } = spending(events);
  const parts = events.flatMap((event) => partsOf(event, events));
  const firstWords = parts.find(({ kind }) => kind === "user");
  const title = sessionName(events) ?? (firstWords && "text" in firstWords ? firstWords.text : sessionId);
  const facts: [string, string][] = [
    ["Session", sessionId],
    ["Folder", cwd],
    ["Model", effort ? `${model.id}, effort ${effort}` : model.id],
    ["Began", new Date(at).toISOString().replace("T", " ").slice(0, 16)],
    ["Work", `${plural(turns, "step")} in ${formatDuration((events.at(-1)?.at ?? at) - at)}, ${money(cost)}`],
  ];
  return {
    title: shortened(clean(title).replaceAll(/\s+/g, " ").trim()),
    facts: facts.map(([name, value]) => [name, clean(value)]),
    parts: parts.map((part) => cleaned(part, clean)),
  };
}

function shortened(title: string): string {
  return title.length > 80 ? `${title.slice(0, 79).toWellFormed()}…` : title;
}

function cleaned(part: Part, clean: (text: string) => string): Part {
  const values = Object.entries(part).map(([key, value]) => [
    key,
    typeof value === "string" && key !== "kind" ? clean(value) : value,
  ]);
  return Object.fromEntries(values) as Part;
}

function partsOf(event: LogEvent, events: readonly LogEvent[]): Part[] {
  switch (event.type) {
    case "user_message":
      return [{ kind: "user", text: resultText(event.content) }];
    case "assistant_message":
      return replyParts(event, events);
    default: {
      const text = noteOf(event, events);
      return text === undefined ? [] : [{ kind: "note", text }];
    }
  }
}

/** Each call with its result, which stands later in the log. */
function replyParts(reply: EventOf<"assistant_message">, events: readonly LogEvent[]): Part[] {
  const at = indexFrom(events, reply.seq);
  const searches = searchesIn(reply.content);
  return reply.content.flatMap((block): Part[] => {
    if (isToolUse(block)) return [callPart(block, outcomeOf(block.id, events, at))];
    if (isSearch(block)) return searchParts(block, searches);
    if (block.type === "text") return block.text.trim() ? [{ kind: "assistant", text: block.text }] : [];
    return block.type === "thinking" && block.thinking.trim()
      ? [{ kind: "thinking", text: block.thinking }]
      : [];
  });
}

/** A search of the provider as a call, in the place of its result. */
function searchParts(block: ServerToolUseBlock | WebSearchResultBlock, searches: readonly Search[]): Part[] {
  if (block.type === "server_tool_use") return [];
  const search = searches.find(({ id }) => id === block.tool_use_id);
  if (!search) return [];
  const { query, opened, error } = search;
  const asked = opened === undefined ? { query } : { url: opened, ...(query ? { pattern: query } : {}) };
  return [
    {
      ...{
        kind: "call",
        tool: "web_search",
        subject: opened ?? query,
        input: JSON.stringify(asked, null, 2),
      },
      ...{ output: `${searchLine(search)}\n${pageLines(search)}`.trimEnd(), failed: error !== undefined },
    },
  ];
}

type Outcome = { result?: EventOf<"tool_result">; decision?: EventOf<"permission_decided"> };

/** Collects the decision and result of a call: up to its result, or to the next reply. */
function outcomeOf(id: string, events: readonly LogEvent[], from: number): Outcome {
  const outcome: Outcome = {};
  for (let index = from + 1; index < events.length; index++) {
    const event = events[index];
    if (event?.type === "assistant_message") break;
    if (event?.type === "permission_decided" && event.toolUseId === id) outcome.decision = event;
    if (event?.type === "tool_result" && event.toolUseId === id) return { ...outcome, result: event };
  }
  return outcome;
}

function callPart(call: ToolUseBlock, { result, decision }: Outcome): Part {
  const { verb, subject } = describeCall(call, result?.call);
  return {
    kind: "call",
    tool: verb,
    subject: subject.split("\n", 1)[0] ?? "",
    input: JSON.stringify(call.input, null, 2) ?? "",
    output: result ? (result.display ?? resultText(result.content)) : "There is no result.",
    failed: result?.isError ?? true,
    ...(decision ? { decision: decisionText(decision) } : {}),
  };
}

function noteOf(event: LogEvent, events: readonly LogEvent[]): string | undefined {
  switch (event.type) {
    case "session_named":
      return event.name ? `Named “${event.name}”.` : undefined;
    case "model_changed":
      return `From here on ${event.model.id}${event.effort ? `, effort ${event.effort}` : ""}.`;
    case "context_edited":
      return `Context: ${sentenceOf(editWords(event, events))}.`;
    case "model_failed":
      return `The model failed: ${event.message}`;
    case "warning":
      return event.text;
    case "egress":
      return `Network: ${egressText(event)}.`;
    case "mcp_called":
      return `MCP: ${serverCallText(event)}.`;
    case "delegate_ended":
      return `${delegateText(event)}.`;
    case "turn_ended":
      return event.reason === "completed" ? undefined : `Ended: ${event.detail ?? event.reason}.`;
    case "delegate_started":
    case "delegate_called":
    case "session_started":
    case "settings_changed":
    case "user_message":
    case "assistant_message":
    case "tool_result":
    case "permission_decided":
    case "sandbox":
    case "quarantined":
    case "runs_elsewhere":
    case "reminder":
    case "tools_gated":
    case "model_request":
    case "summary_call":
      return undefined;
    default:
      return event satisfies never;
  }
}
