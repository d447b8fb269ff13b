/** The kind of an observation, from the tool and the facts recorded with its call. Pure. */

import type { ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf } from "../../core/events.ts";
import { memoizeBy } from "../../core/memoize.ts";
import { type CallFacts, toolNames, touchesOf } from "../../core/tool-calls.ts";

/** The kinds, in the order in which tables list them. `test`: whatever is run for its verdict. */
export const observationKinds = ["read", "search", "test", "edit", "other"] as const;
export type ObservationKind = (typeof observationKinds)[number];

/** The kind, and the files that were read and written, as far as the call names them; those of commands are absolute. */
export type Observed = { kind: ObservationKind; read: readonly string[]; wrote: readonly string[] };

/** Tells what a result shows from what is recorded with it: of a command, what it was found to be for as it ran. */
export function recordedKind(
  call: ToolUseBlock,
  { call: facts, stats }: Pick<EventOf<"tool_result">, "call" | "stats">,
): Observed {
  return stats?.purpose ?? (facts ? fromFacts(call.name, facts) : fromCall(call));
}

/** Tells also which files it was: those that its tool noted as read and written, else those that the call names. */
export function observed(
  call: ToolUseBlock,
  result: Pick<EventOf<"tool_result">, "call" | "stats">,
): Observed {
  const { kind, read, wrote } = recordedKind(call, result);
  return { kind, read: result.stats?.read ?? read, wrote: result.stats?.wrote ?? wrote };
}

/** From the call alone. */
const fromCall = memoizeBy((call: ToolUseBlock): Observed => {
  const { kind, paths } = touchesOf(call);
  const named = call.name === toolNames.mcp ? textOf(call.input, "tool") : call.name;
  if (kind !== "runs") return fromFacts(named, { kind, paths, verb: "", subject: "" });
  const path =
    textOf(call.input, "path") || textOf(call.input, "file_path") || textOf(call.input, "filename");
  const own = kindOfName(named);
  return {
    kind: own,
    read: own === "read" && path ? [path] : [],
    wrote: own === "edit" && path ? [path] : [],
  };
});

function fromFacts(name: string, { kind, paths }: CallFacts): Observed {
  if (kind === "writes") return { kind: "edit", read: [], wrote: paths };
  if (kind === "reads") {
    const searches = kindOfName(name) === "search";
    return searches ? { kind: "search", read: [], wrote: [] } : { kind: "read", read: paths, wrote: [] };
  }
  return { kind: kind === "session" ? "other" : kindOfName(name), read: [], wrote: [] };
}

/** The kinds of tools by a word of their names: `search_files`, `readTextFile`, `Grep`. */
const words: readonly [ObservationKind, RegExp][] = [
  ["search", /^(?:grep|glob|search|find|list|ls|tree|locate)$/],
  ["test", /^(?:tests?|lint|diagnostics|check)$/],
  ["edit", /^(?:edit|write|create|replace|insert|patch|delete|move|rename|append|save|update)$/],
  ["read", /^(?:read|open|view|cat|fetch|show|scroll|goto)$/],
];

/** An identifier's first word with a meaning decides. Tools of tasks and plans are no tools of files. */
function kindOfName(name: string): ObservationKind {
  const parts = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
  if (parts.some((part) => /^(?:todo|task|tasks|plan|memory|agent)$/.test(part))) return "other";
  for (const part of parts) for (const [kind, known] of words) if (known.test(part)) return kind;
  return "other";
}

function textOf(input: unknown, key: string): string {
  const value =
    typeof input === "object" && input !== null ? (input as Record<string, unknown>)[key] : undefined;
  return typeof value === "string" ? value : "";
}
