/** Tool calls as the protocol has them: kind, title, places, diffs and output. Pure. */

import { isAbsolute, join } from "node:path";
import type {
  ToolCall,
  ToolCallContent,
  ToolCallLocation,
  ToolCallUpdate,
  ToolKind,
} from "@agentclientprotocol/sdk";
import type { ToolUseBlock } from "../core/blocks.ts";
import type { EventOf } from "../core/events.ts";
import { cleanLine } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";
import { type CallFacts, describeCall, toolNames, touchesOf } from "../core/tool-calls.ts";

/** A call, and its facts where core does not know its tool. `cwd`: the folder of the session. */
export type SeenCall = {
  call: Pick<ToolUseBlock, "name" | "input">;
  facts?: CallFacts | undefined;
  cwd: string;
};

const longestTitle = 200;

/** Returns the call before it runs. */
export function callOf(id: string, seen: SeenCall): ToolCall {
  const { call } = seen;
  const locations = locationsOf(seen);
  const content = proposed(seen);
  return {
    toolCallId: id,
    title: titleOf(seen),
    name: call.name,
    kind: kindOf(seen),
    status: "pending",
    rawInput: call.input,
    ...(locations.length > 0 ? { locations } : {}),
    ...(content.length > 0 ? { content } : {}),
  };
}

/** Returns the change of a call that its result makes. */
export function resultOf(event: EventOf<"tool_result">, seen: SeenCall): ToolCallUpdate {
  const { toolUseId: toolCallId, isError, display, stats } = event;
  const path = stats?.wrote?.[0] ?? pathsOf(seen)[0];
  const diffs = !isError && display?.startsWith("--- ") && path ? diffsOf(display, path) : [];
  const content = diffs.length > 0 ? diffs : outputOf(event);
  const line = diffs.length > 0 ? changedLine(display ?? "") : undefined;
  const places = [...(stats?.wrote ?? []), ...(stats?.read ?? [])];
  const locations = places.slice(0, mostPlaces).map((place) => ({ path: place, ...(line ? { line } : {}) }));
  return {
    toolCallId,
    status: isError ? "failed" : "completed",
    content,
    ...(locations.length > 0 ? { locations } : {}),
  };
}

const mostPlaces = 20;

/** Returns the kind of a call. */
export function kindOf({ call, facts }: Omit<SeenCall, "cwd">): ToolKind {
  if (call.name === toolNames.fetch) return "fetch";
  if (call.name === toolNames.mcp) return "other";
  switch (touchesOf(call, facts).kind) {
    case "reads":
      return "read";
    case "writes":
      return "edit";
    case "runs":
      return call.name === toolNames.bash ? "execute" : "other";
    case "session":
      return "think";
  }
}

/** Returns a command as it is, and any other call by its verb and subject; on one line, with nothing hidden. */
function titleOf({ call, facts, cwd }: SeenCall): string {
  const { verb, subject } = describeCall(call, facts);
  const words = call.name === toolNames.bash ? subject : `${verb} ${subject.replace(`${cwd}/`, "")}`;
  const [first = "", ...more] = words.trim().split("\n");
  const line = showHidden(cleanLine(first)).trim();
  const cut = line.length > longestTitle || more.length > 0;
  return (cut ? `${line.slice(0, longestTitle).toWellFormed()} …` : line) || call.name;
}

function locationsOf(seen: SeenCall): ToolCallLocation[] {
  const { view_range: range, insert_line: line } = (seen.call.input ?? {}) as Record<string, unknown>;
  const at = Array.isArray(range) ? range[0] : line;
  return pathsOf(seen).map((path) => ({
    path,
    ...(Number.isInteger(at) && Number(at) > 0 ? { line: Number(at) } : {}),
  }));
}

function pathsOf({ call, facts, cwd }: SeenCall): string[] {
  return touchesOf(call, facts).paths.map((path) => (isAbsolute(path) ? path : join(cwd, path)));
}

/** Shows an edit as far as its input tells: the texts that are exchanged, or the new file. */
function proposed(seen: SeenCall): ToolCallContent[] {
  const [path] = pathsOf(seen);
  if (seen.call.name !== toolNames.editor || path === undefined) return [];
  const input = seen.call.input as Record<string, unknown>;
  const pairs = Array.isArray(input.edits) ? (input.edits as Record<string, unknown>[]) : [input];
  return pairs.flatMap((pair): ToolCallContent[] => {
    const oldText = pair?.old_str;
    const newText = pair?.new_str ?? pair?.insert_text ?? pair?.file_text;
    if (typeof newText !== "string") return [];
    return [{ type: "diff", path, newText, ...(typeof oldText === "string" ? { oldText } : {}) }];
  });
}

/** Reads the hunks of a unified diff, as the editor makes them for people. */
function diffsOf(display: string, path: string): ToolCallContent[] {
  const isNew = display.startsWith("--- /dev/null");
  const hunks = display.split(/^@@ .* @@$/m).slice(1);
  return hunks.map((hunk) => {
    const lines = hunk.split("\n").slice(1);
    const side = (mark: string): string =>
      lines.flatMap((line) => (line[0] === " " || line[0] === mark ? [`${line.slice(1)}\n`] : [])).join("");
    return { type: "diff", path, newText: side("+"), oldText: isNew ? null : side("-") };
  });
}

function changedLine(display: string): number | undefined {
  const [, from = "0", body = ""] = /^@@ -\d+,\d+ \+(\d+),\d+ @@$([\s\S]*)/m.exec(display) ?? [];
  const unchanged = body.split("\n").slice(1);
  const before = unchanged.findIndex((line) => !line.startsWith(" "));
  return Number(from) + Math.max(0, before) || undefined;
}

function outputOf({ content }: EventOf<"tool_result">): ToolCallContent[] {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return parts.map((part) => {
    if (part.type === "text") return textContent(fenced(part.text));
    const { data, media_type: mimeType } = part.source;
    return { type: "content", content: { type: "image", data, mimeType } };
  });
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Puts output between fences, as editors show text as Markdown; the fence is longer than any in it. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((fence) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

/** Returns the text of a result, for a call that never got one. */
export function unfinished(toolCallId: string): ToolCallUpdate {
  return {
    toolCallId,
    status: "failed",
    content: [textContent("not run: the reply or the session ended first")],
  };
}
