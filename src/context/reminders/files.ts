/** Finds the files in the model's context, and the state in which it knows them (context-engine §6). Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import type { KnownFile } from "../../core/ports.ts";
import { eventAt, findCall, started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { View } from "../view/view.ts";
import { fieldOf } from "./steps.ts";

/** Most files to check before a request, the newest first. */
const mostFiles = 20;
/** Events to search back for a file's newest state, which is usually near its newest view. */
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

/** Returns the commands of the newest step: changes to files they name are no news to the model. */
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

/** Lists files for the model, short and on one line whatever their names contain. */
export function namedFiles(files: readonly KnownFile[], events: readonly LogEvent[]): string {
  const root = `${started(events).cwd}/`;
  const names = files.slice(0, mostNamed).map(({ path, hash }) => {
    const name = (path.startsWith(root) ? path.slice(root.length) : path).replaceAll(/\p{Cc}/gu, "?");
    return hash === "" ? `${name} (gone)` : name;
  });
  const more = files.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}
