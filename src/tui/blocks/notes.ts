/** Notes about events for people: a line each, and how much it matters. Pure. */

import type { LogEvent, TurnEnd } from "../../core/events.ts";
import { egressText } from "../../core/network/egress.ts";
import { isFullSandbox } from "../../core/sandbox.ts";
import { delegateText } from "../../core/text/delegate-text.ts";
import { sandboxText } from "../../core/text/sandbox-text.ts";
import { serverCallText } from "../../core/text/server-call-text.ts";

export type Note = [tone: "dim" | "warn" | "bad" | "accent", text: string];

const refusedKey =
  "the API key was not accepted: check it in the environment; `sawtooth doctor` tells which one is used";

const summaryWords = { accepted: "was made", rejected: "was refused", failed: "failed" };

/** A path in the folder of the session is shown without it. */
function near(path: string, cwd: string): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/** Returns the note about an event besides edits of the context. `cwd`: paths inside it are shown without it. */
export function eventNote(event: LogEvent, cwd: string): Note | undefined {
  switch (event.type) {
    case "model_failed":
      if (event.kind === "credentials") return ["warn", refusedKey];
      return event.attempt === 0
        ? undefined
        : ["warn", `${event.message}; attempt ${event.attempt} of this call failed`];
    case "warning":
      return ["warn", event.text];
    case "egress":
      return event.decision === "allow" ? undefined : ["warn", egressText(event)];
    case "mcp_called":
      return event.outcome === "refused" ? ["warn", serverCallText(event)] : undefined;
    case "session_named":
      return [
        "dim",
        event.name ? `this session is called ${event.name}` : "this session no longer has a name",
      ];
    case "model_changed":
      return ["dim", `from here on ${event.model.id}${event.effort ? `, effort ${event.effort}` : ""}`];
    case "summary_call":
      return ["dim", `a summary ${summaryWords[event.outcome]}${event.detail ? `: ${event.detail}` : ""}`];
    case "sandbox":
      return [isFullSandbox(event.status) || event.status.isOff ? "dim" : "warn", sandboxText(event.status)];
    case "quarantined":
      return event.accepted
        ? ["dim", `${near(event.path, cwd)} was restored from quarantine`]
        : [
            "warn",
            `${near(event.path, cwd)} appeared, and other programs would run it: it is in quarantine; /sandbox accept puts it back`,
          ];
    case "runs_elsewhere":
      return [
        "dim",
        `changed files that other programs run: ${event.paths.map((path) => near(path, cwd)).join(", ")}`,
      ];
    case "delegate_ended":
      return ["dim", delegateText(event)];
    case "context_edited":
    case "session_started":
    case "settings_changed":
    case "user_message":
    case "assistant_message":
    case "tool_result":
    case "permission_decided":
    case "reminder":
    case "tools_gated":
    case "model_request":
    case "delegate_started":
    case "delegate_called":
    case "turn_ended":
      return undefined;
    default:
      return event satisfies never;
  }
}

/** Returns how a turn ended, unless it completed. */
export function endText(reason: TurnEnd, detail = ""): Note | undefined {
  switch (reason) {
    case "completed":
      return undefined;
    case "interrupted":
      return ["warn", "interrupted"];
    case "max_turns":
    case "max_budget":
    case "max_time":
      return ["warn", `a limit was reached: ${detail}`];
    case "refusal":
    case "output_limit":
    case "context_full":
    case "loop":
    case "hook":
      return ["warn", detail || reason];
    case "model_error":
    case "error":
      return ["bad", detail || "the turn failed"];
  }
}
