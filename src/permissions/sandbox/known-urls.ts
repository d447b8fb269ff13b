/**
 * Finds the addresses that a session was given: by the person, or in what it read. One that only the model has written
 * could carry data away. Pure.
 */

import { type FoundPage, isToolUse, resultText, type WebSearchResultBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { toolNames } from "../../core/tool-calls.ts";

type State = {
  known: Set<string>;
  /** Addresses that the model wrote before anything else did. */
  written: Set<string>;
  /** The words of the calls without a result, by id. */
  calls: Map<string, string>;
};

/** Most addresses that are read in one text. */
const mostOfText = 5_000;

/**
 * Returns a function that tells of an address if the log names it: a message of the person, a fetched page, or another
 * result whose call did not name the host itself. Of a growing log only new events are read.
 */
export function knownUrls(): (events: readonly LogEvent[]) => (url: string) => boolean {
  const reading = memoizedReduce<State>(
    () => ({ known: new Set(), written: new Set(), calls: new Map() }),
    (state, event) => {
      if (event.type === "user_message") readMessage(state, event);
      if (event.type === "assistant_message") readReply(state, event);
      if (event.type === "tool_result") readResult(state, event);
      return state;
    },
  );
  return (events) => {
    const { known } = reading(events);
    return (url) => keysOf(url).some((key) => known.has(key));
  };
}

function readMessage({ known }: State, { content, preamble = [] }: EventOf<"user_message">): void {
  for (const block of [...preamble, ...content]) {
    if (block.type !== "text") continue;
    for (const key of keysIn(block.text, bareNames)) known.add(key);
  }
}

function readReply({ known, written, calls }: State, { content }: EventOf<"assistant_message">): void {
  const add = (text: string): void => {
    for (const key of keysIn(text)) if (!known.has(key)) written.add(key);
  };
  for (const block of content) {
    if (block.type === "server_tool_use") {
      add(stringsIn(block.input).join("\n"));
      calls.set(block.id, stringsIn(block.input).join("\n").toLowerCase());
    }
    if (block.type === "web_search_tool_result") readFound({ known, written, calls }, block);
    if (block.type === "text") add(block.text);
    if (!isToolUse(block)) continue;
    const words = stringsIn(block.input).join("\n");
    add(words);
    calls.set(block.id, words.toLowerCase());
  }
}

/** Learns the addresses that a search found, but for what its query named. */
function readFound({ known, written, calls }: State, { tool_use_id, content }: WebSearchResultBlock): void {
  const query = calls.get(tool_use_id) ?? "";
  calls.delete(tool_use_id);
  if (!Array.isArray(content)) return;
  for (const key of (content as readonly FoundPage[]).flatMap(({ url }) => keysOf(url)))
    if (!written.has(key) && !query.includes(hostOf(key))) known.add(key);
}

function readResult(
  { known, written, calls }: State,
  { toolUseId, toolName, content, isError, rejected }: EventOf<"tool_result">,
): void {
  const call = calls.get(toolUseId) ?? "";
  calls.delete(toolUseId);
  if (rejected || (toolName === toolNames.fetch && isError)) return;
  for (const key of keysIn(resultText(content))) {
    const echoed = written.has(key) || call.includes(hostOf(key));
    if (toolName === toolNames.fetch || !echoed) known.add(key);
  }
}

const addresses = /https?:\/\/[^\s<>"'`[\]{}|\\^\x00-\x1f]+/gi;
/** People leave the scheme out. */
const bareNames =
  /(?<![\w@/.:-])(?:https?:\/\/)?(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:\/[^\s<>"'`[\]{}|\\^]*)?/gi;

function keysIn(text: string, ...more: RegExp[]): Set<string> {
  const found = new Set<string>();
  for (const expression of [addresses, ...more])
    for (const [word] of text.matchAll(expression)) {
      if (found.size >= mostOfText) return found;
      const whole = /^https?:/i.test(word) ? word : `https://${word}`;
      const trimmed = whole.replace(/[.,;:!?*_~)]+$/, "");
      for (const one of new Set([whole, trimmed, trimmed.replace(/\).*$/s, "")]))
        for (const key of keysOf(one)) found.add(key);
    }
  return found;
}

/** An address without its scheme, its fragment and a final slash; none for what is no address. */
function keysOf(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { host, pathname, search } = new URL(text);
  return [`${host}${pathname.replace(/\/$/, "")}${search}`];
}

function hostOf(key: string): string {
  return key.split(/[/?:]/, 1)[0] ?? key;
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}
