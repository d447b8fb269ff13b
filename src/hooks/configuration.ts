/** Hooks in the person's settings, in the format of Claude Code. Pure. */

import { UsageError } from "../core/errors.ts";
import type { JsonSchema } from "../core/request.ts";
import { violations } from "../core/schema.ts";
import { nearest } from "../core/text/nearest.ts";

/** Moments at which hooks run. */
export const hookEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Stop",
  "Notification",
] as const;
export type HookEvent = (typeof hookEvents)[number];

export type Hook = {
  event: HookEvent;
  /** Returns true when the hook is for one of these names: of a tool, or the cause of the event. */
  matches(names: readonly string[]): boolean;
  /** A line for `sh -c`. */
  command: string;
  timeoutMs: number;
  /** A failure is told, or also blocks what the hook was asked about. */
  onFailure: "warn" | "block";
};

/** Moments that Claude Code has besides: their hooks are left out, which is told. */
const others = new Set(
  "SubagentStart SubagentStop PreCompact PostCompact SessionEnd PermissionRequest PermissionDenied PostToolUseFailure PostToolBatch StopFailure Setup TeammateIdle TaskCreated TaskCompleted ConfigChange CwdChanged FileChanged InstructionsLoaded WorktreeCreate WorktreeRemove Elicitation ElicitationResult UserPromptExpansion".split(
    " ",
  ),
);

/** Seconds, as in Claude Code. */
const usualTimeout = 60;
const longestTimeout = 3600;

const groups: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: {
      matcher: { type: "string" },
      hooks: {
        type: "array",
        items: {
          type: "object",
          properties: {
            type: { type: "string" },
            command: { type: "string" },
            timeout: { type: "number", minimum: 0.1, maximum: longestTimeout },
            onFailure: { type: "string", enum: ["warn", "block"] },
          },
          required: ["type"],
        },
      },
    },
    required: ["hooks"],
  },
};

type Group = {
  matcher?: string;
  hooks: { type: string; command?: string; timeout?: number; onFailure?: Hook["onFailure"] }[];
};

/**
 * Reads `hooks` of the settings in `file`. `warn`: gets a line for each moment that is left out. Throws `UsageError`:
 * a hook that would guard something must not be missing unnoticed.
 */
export function hooksFrom(
  file: string,
  value: Readonly<Record<string, unknown>>,
  warn: (text: string) => void = () => {},
): Hook[] {
  return Object.entries(value).flatMap(([event, list]) => {
    if (!isEvent(event)) {
      if (!others.has(event)) throw unknownEvent(file, event);
      warn(`${file}: hooks of ${event} are not run; there are ${hookEvents.join(", ")}`);
      return [];
    }
    const [wrong] = violations(groups, list, `hooks.${event}`);
    if (wrong) throw new UsageError(`${file}: ${wrong}: correct or remove it`);
    const other = (list as Group[]).flatMap(({ hooks }) => hooks).find(({ type }) => type !== "command");
    if (other)
      throw new UsageError(
        `${file}: a hook of ${event} has the type ${JSON.stringify(other.type)}, and only "command" is run: remove it`,
      );
    return (list as Group[]).flatMap(({ matcher = "", hooks }) => {
      const matches = matcherOf(file, event, matcher);
      return hooks.map(({ command = "", timeout = usualTimeout, onFailure = "warn" }): Hook => {
        if (command.trim() === "")
          throw new UsageError(`${file}: a hook of ${event} has an empty command: correct or remove it`);
        return { event, matches, command, timeoutMs: timeout * 1000, onFailure };
      });
    });
  });
}

function isEvent(event: string): event is HookEvent {
  return hookEvents.some((known) => known === event);
}

function unknownEvent(file: string, event: string): UsageError {
  const meant = nearest(event, hookEvents);
  return new UsageError(`${file}: hooks.${event}: unknown, did you mean ${meant}? Correct or remove it`);
}

/** A matcher is a regular expression for a whole name; an empty one and `*` are for all. */
function matcherOf(file: string, event: HookEvent, matcher: string): Hook["matches"] {
  if (matcher === "" || matcher === "*") return () => true;
  try {
    const pattern = new RegExp(`^(?:${matcher})$`);
    return (names) => names.some((name) => pattern.test(name));
  } catch {
    throw new UsageError(
      `${file}: the matcher ${JSON.stringify(matcher)} of a hook of ${event} is no regular expression: correct it`,
    );
  }
}
