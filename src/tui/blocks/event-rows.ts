/** Rows for events other than replies and results: the user's messages, notes, the end of a turn. Pure. */

import { formatDuration, formatTokens, money, plural } from "../../context/report/amounts.ts";
import { editWords, sentenceOf } from "../../context/view/edit-words.ts";
import { blockTokens } from "../../context/view/tokens.ts";
import { isToolUse, type UserBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { currentModel } from "../../core/questions.ts";
import { shellOutput } from "../../core/text/tags.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import { eventNote, type Note } from "./notes.ts";
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

/** Returns the rows of a note. Only the mark is coloured: yellow words are unreadable on a light background. */
export function noteRows([tone, text]: Note, { columns }: RowContext): Row[] {
  const mark = tone === "dim" ? "·" : tone === "accent" ? "▼" : "!";
  const words = { text: safe(text.replaceAll("\n", " ")), ...(tone === "dim" ? { tone } : {}) };
  return wrap([{ text: `  ${mark} `, tone }, words], columns, "    ");
}

/** Returns the note about an event; undefined where there is nothing to say, or it has rows of its own. */
export function noteOf(event: LogEvent, events: readonly LogEvent[], { cwd }: RowContext): Note | undefined {
  return event.type === "context_edited"
    ? ["accent", sentenceOf(editWords(event, events))]
    : eventNote(event, cwd);
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
