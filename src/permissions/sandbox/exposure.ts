/** Finds the outside text and the private data that a session has seen, from its log. Pure. */

import { resultText } from "../../core/blocks.ts";
import type { Delegated, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { hostText } from "../../core/network/egress.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { holdsSecret } from "../names.ts";
import { isInside } from "../paths.ts";

/** Something the session read. `step`: the preceding model call, counted from 1. `from`: a host or a path. */
export type Source = { step: number; from: string; call?: string };

/** The newest source of each kind; absent where nothing of that kind was read. */
export type Exposure = { outside?: Source; private?: Source };

export type ExposureOptions = {
  /** `workspace`: every file of the workspace is private. `secrets`: only secrets and files outside of it. */
  private: "workspace" | "secrets";
  /** Absolute folders of the workspace. */
  workspace: readonly string[];
};

/** Folders with files from elsewhere. */
const dependencies = /\/(node_modules|vendor|site-packages|\.venv|venv|\.cargo\/registry|go\/pkg\/mod)\//;

const serverText = "an MCP server";
const delegateText = "a sub-agent";
const searchText = "a web search";

type Reading = { seen: Exposure; step: number };

/**
 * Returns a function from a log to what the session has seen. Forgetting does not undo it: the model may have acted
 * on it. Of a growing log only new events are read.
 */
export function exposureBy(options: ExposureOptions): (events: readonly LogEvent[]) => Exposure {
  const reading = memoizedReduce<Reading>(
    () => ({ seen: {}, step: 0 }),
    (state, event) => read(state, event, options),
  );
  return (events) => {
    const { seen, step } = reading(events);
    if (seen.private || options.private === "secrets" || step === 0) return seen;
    const [root = "the workspace"] = options.workspace;
    return { ...seen, private: { step: 1, from: root } };
  };
}

function read({ seen, step }: Reading, event: LogEvent, options: ExposureOptions): Reading {
  if (event.type === "assistant_message") {
    const [found] = event.content.filter(({ type }) => type === "web_search_tool_result");
    return found
      ? { seen: { ...seen, outside: { step: step + 1, from: searchText } }, step: step + 1 }
      : { seen, step: step + 1 };
  }
  if (event.type === "session_started" && event.delegate) return { seen: seenBefore(event.delegate), step };
  if (event.type === "delegate_ended" && event.outside)
    return { seen: { ...seen, outside: { step, from: delegateText } }, step };
  if (event.type === "egress" && event.decision !== "deny" && event.bytesDown > 0 && !event.trusted) {
    const outside = { step, from: hostText(event), ...(event.program ? { call: event.program } : {}) };
    return { seen: { ...seen, outside }, step };
  }
  if (event.type === "mcp_called" && (event.outcome === "ok" || event.outcome === "error"))
    return { seen: { ...seen, outside: { step, from: serverText } }, step };
  if (event.type !== "tool_result" || event.rejected) return { seen, step };
  return { seen: { ...seen, ...resultSources(event, step, options) }, step };
}

/** Returns the sources of the session that delegated: its brief may repeat them. */
function seenBefore({ outside, private: own }: Delegated): Exposure {
  return {
    ...(outside === undefined ? {} : { outside: { step: 0, from: outside } }),
    ...(own === undefined ? {} : { private: { step: 0, from: own } }),
  };
}

function resultSources(
  event: Extract<LogEvent, { type: "tool_result" }>,
  step: number,
  { workspace }: ExposureOptions,
): Exposure {
  const found: Exposure = {};
  if (event.toolName === toolNames.mcp) found.outside = { step, from: serverText };
  for (const path of event.stats?.read ?? []) {
    if (dependencies.test(path)) found.outside = { step, from: path };
    if (holdsSecret(path) || !workspace.some((folder) => isInside(path, folder)))
      found.private = { step, from: path };
  }
  // The mark left by redaction.
  if (/\[redacted:\w+\]/.test(resultText(event.content))) found.private = { step, from: "a secret" };
  return found;
}

/** Returns true when outside text could make the model leak private data. */
export function isExposed(seen: Exposure): seen is Required<Exposure> {
  return seen.outside !== undefined && seen.private !== undefined;
}
