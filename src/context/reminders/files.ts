/** The files whose content the model has before it, and as what it knows them (context-engine §6). Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import type { KnownFile } from "../../core/ports.ts";
import { eventAt, findCall, started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { View } from "../view/view.ts";
import { fieldOf } from "./steps.ts";

/** Files that are looked at before a request: the newest ones. */
const mostFiles = 20;
/** How far back the newest state of a file is looked for: it mostly stands where its newest view does. */
const mostEvents = 2_000;

/** Returns the files that the model still has in the view, newest first, in their newest logged state. */
export function knownFiles(events: readonly LogEvent[], view: View): KnownFile[] {
  const shown = new Set<string>();
  for (let index = view.entries.length - 1; index >= 0 && shown.size < mostFiles; index--) {
    const entry = view.entries[index];
    if (!entry || entry.edited || entry.blocks[0]?.type !== "tool_result") continue;
    const event = eventAt(events, entry.seq);
    for (const { path } of event?.type === "tool_result" ? stateIn(event) : []) shown.add(path);
  }
  const states = shown.size > 0 ? newestStates(events, shown) : new Map<string, string>();
  return [...states].map(([path, hash]) => ({ path, hash }));
}

function newestStates(events: readonly LogEvent[], paths: ReadonlySet<string>): Map<string, string> {
  const states = new Map<string, string>();
  const oldest = Math.max(0, events.length - mostEvents);
  for (let index = events.length - 1; index >= oldest && states.size < paths.size; index--) {
    const event = events[index];
    const reported = event?.type === "reminder" ? (event.files ?? []) : [];
    for (const { path, hash } of event?.type === "tool_result" ? stateIn(event) : reported)
      if (paths.has(path) && !states.has(path)) states.set(path, hash);
  }
  return states;
}

function stateIn({ stats }: EventOf<"tool_result">): KnownFile[] {
  const path = stats?.wrote?.[0] ?? stats?.read?.[0];
  return path && stats?.hash ? [{ path, hash: stats.hash }] : [];
}

/** The commands of the newest step: a file that one of them names was changed knowingly. */
export function newestCommands(events: readonly LogEvent[]): string[] {
  const commands: string[] = [];
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "assistant_message") break;
    if (event?.type !== "tool_result" || event.toolName !== toolNames.bash) continue;
    const call = findCall(events, event.toolUseId, index);
    if (call) commands.push(fieldOf(call, "command"));
  }
  return commands;
}

const mostNamed = 5;

/** The files as they are named to the model: short, and in one line whatever their names hold. */
export function namedFiles(files: readonly KnownFile[], events: readonly LogEvent[]): string {
  const root = `${started(events).cwd}/`;
  const names = files.slice(0, mostNamed).map(({ path, hash }) => {
    const name = (path.startsWith(root) ? path.slice(root.length) : path).replaceAll(/\p{Cc}/gu, "?");
    return hash === "" ? `${name} (gone)` : name;
  });
  const more = files.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}
