/** Rows for events other than replies and results: the user's messages, notes, the end of a turn. Pure. */

import { formatDuration, formatTokens, money, plural } from "../../context/report/amounts.ts";
import { blockTokens } from "../../context/view/tokens.ts";
import { isToolUse, type UserBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent, TurnEnd } from "../../core/events.ts";
import { egressText } from "../../core/network/egress.ts";
import { currentModel } from "../../core/questions.ts";
import { isFullSandbox } from "../../core/sandbox.ts";
import { sandboxText } from "../../core/text/sandbox-text.ts";
import { serverCallText } from "../../core/text/server-call-text.ts";
import { shellOutput } from "../../core/text/tags.ts";
import { gist } from "../rows/markdown.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import type { RowContext } from "./tool-rows.ts";

/**
 * Returns a message as it was typed: a command run with `!` is that line again, and a picture only has its name in the
 * text.
 */
export function typedText({ content, shell }: EventOf<"user_message">): string {
  return shell ? `!${shell.command}` : textOf(content);
}

/** The text before a picture is a line about it. */
function textOf(content: readonly UserBlock[]): string {
  return content
    .flatMap((block, index) =>
      block.type === "text" && content[index + 1]?.type !== "image" ? [block.text] : [],
    )
    .join("\n");
}

/** Returns the rows of a message. `events`: the log up to it. */
export function userRows(
  { content, shell }: EventOf<"user_message">,
  { columns }: RowContext,
  events: readonly LogEvent[],
): Row[] {
  if (shell) return ranRows(shell.command, shellOutput(textOf(content), shell.command), columns);
  const lines = textOf(content).split("\n");
  const shown = lines.slice(0, 20);
  const more = lines.length - shown.length;
  return [
    ...shown.flatMap((line, index) =>
      wrap(
        [
          { text: index === 0 ? "› " : "  ", tone: "accent" },
          { text: safe(line), tone: "strong" },
        ],
        columns,
        "  ",
      ),
    ),
    ...(more > 0 ? [[{ text: `  … ${plural(more, "more line")}`, tone: "dim" as const }]] : []),
    ...pictureRows(content, columns, events),
  ];
}

/** Says of each picture what it is, and what it costs to send once at the model's price. */
function pictureRows(content: readonly UserBlock[], columns: number, events: readonly LogEvent[]): Row[] {
  return content.flatMap((block, index) => {
    if (block.type !== "image") return [];
    const before = content[index - 1];
    const about = before?.type === "text" ? before.text : "picture";
    const tokens = blockTokens(block);
    const dollars = (tokens * currentModel(events).model.prices.input) / 1e6;
    const price = `about ${formatTokens(tokens)} tokens, ${money(dollars)}`;
    return wrap([{ text: "  " }, { text: `${safe(about)} · ${price}`, tone: "dim" }], columns, "  ");
  });
}

const shownOutput = 20;

function ranRows(command: string, output: string, columns: number): Row[] {
  const lines = output.split("\n");
  const above = lines.length - shownOutput;
  const head = wrap(
    [
      { text: "! ", tone: "accent" },
      { text: safe(command.replaceAll("\n", " ⏎ ")), tone: "strong" },
    ],
    columns,
    "  ",
  );
  const cut: Row[] = above > 0 ? [[{ text: `  … ${plural(above, "line")} above`, tone: "dim" }]] : [];
  return [
    ...head,
    ...cut,
    ...lines
      .slice(-shownOutput)
      .flatMap((line) => wrap([{ text: "  " }, { text: safe(line) }], columns, "  ")),
  ];
}

export type Note = [tone: "dim" | "warn" | "bad" | "accent", text: string];

/** Returns the rows of a note. Only the mark is coloured: yellow words are unreadable on a light background. */
export function noteRows([tone, text]: Note, { columns }: RowContext): Row[] {
  const mark = tone === "dim" ? "·" : tone === "accent" ? "▼" : "!";
  const words = { text: safe(text.replaceAll("\n", " ")), ...(tone === "dim" ? { tone } : {}) };
  return wrap([{ text: `  ${mark} `, tone }, words], columns, "    ");
}

const refusedKey =
  "the API key was not accepted: check it in the environment; `sawtooth doctor` tells which one is used";

const summaryWords = { accepted: "was made", rejected: "was refused", failed: "failed" };

/** A path in the folder of the session is shown without it. */
function near(path: string, cwd: string): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

export function noteOf(event: LogEvent, { cwd }: RowContext): Note | undefined {
  switch (event.type) {
    case "context_edited":
      return ["accent", editText(event)];
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
    case "session_started":
    case "settings_changed":
    case "user_message":
    case "assistant_message":
    case "tool_result":
    case "permission_decided":
    case "reminder":
    case "tools_gated":
    case "model_request":
    case "turn_ended":
      return undefined;
    default:
      return event satisfies never;
  }
}

function editText({ reason, economics, edits, fold }: EventOf<"context_edited">): string {
  const removed = economics.removedTokens;
  const what =
    typeof removed === "number" && removed > 0
      ? `${formatTokens(removed)} tokens leave the context`
      : plural(edits.length, "edit");
  return fold ? `folded, ${what}: ${gist(fold.objective, 60)}` : `${what}: ${reason}`;
}

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
      return ["warn", detail || reason];
    case "model_error":
    case "error":
      return ["bad", detail || "the turn failed"];
  }
}

/** Sums up a turn from its first event on; undefined for a turn of one step. */
export function turnSummary(turn: readonly LogEvent[], cost: number): string | undefined {
  const steps = turn.filter(({ type }) => type === "assistant_message").length;
  const first = turn[0];
  const last = turn.at(-1);
  if (steps < 2 || !first || !last) return undefined;
  const calls = turn.reduce(
    (sum, event) => sum + (event.type === "assistant_message" ? event.content.filter(isToolUse).length : 0),
    0,
  );
  return `${plural(steps, "step")}, ${plural(calls, "call")}, ${formatDuration(last.at - first.at)}, $${cost.toFixed(4)}`;
}
