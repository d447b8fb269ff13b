/** Lists what a session forgot and asked for again: reads of what an edit had taken, and quotes of it. Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { costOf, inputTotal, type ModelCard, noUsage, type Usage } from "../../core/model-card.ts";
import { describeCall } from "../../core/tool-calls.ts";
import { money, plural } from "../report/amounts.ts";
import type { Moment } from "../report/walk.ts";
import type { View } from "../view/view.ts";
import { type Missed, missReader, rereadUsage } from "./misses.ts";

/** Something that was asked for again. Steps count from 1. */
export type AskedAgain = Pick<Missed, "kind"> & {
  /** The step that showed it, and the one that asked for it again. */
  shown: number;
  again: number;
  /** `read`: a call showed it again; `quote`: a reply quoted it without. */
  by: "read" | "quote";
  /** Title of the call that showed it. */
  what: string;
  /** Estimated tokens of its result, uncalibrated. */
  tokens: number;
};

export type Forgotten = {
  /** Results of calls that edits took from the view. */
  taken: number;
  rows: readonly AskedAgain[];
  /** Times that something was asked for again, of 100 steps. */
  rate: number;
  /** Dollars of the reads: the context once more, the call, and the result written. */
  dollars: number;
};

export type ForgottenReader = {
  /** Reads an event with its moment, if it is one. */
  take(event: LogEvent, moment: Moment | undefined): void;
  forgotten(): Forgotten;
};

/** Reads a log event by event; what an event costs does not grow with the log. */
export function forgottenReader(): ForgottenReader {
  const misses = missReader();
  const taken = takenResults();
  const titles = titleReader();
  const rows: AskedAgain[] = [];
  let model: ModelCard | undefined;
  let [step, dollars, unchanged] = [0, 0, 0];
  let view: View | undefined;
  /** The context that the next read of the newest reply carries once more. */
  let context = 0;

  const note = (missed: Missed, by: AskedAgain["by"]): void => {
    const { shown = 0, what = "" } = titles.of(missed.seq) ?? {};
    rows.push({ kind: missed.kind, shown, again: step, by, what, tokens: missed.result });
  };
  const answered = ({ content, usage }: EventOf<"assistant_message">): void => {
    for (const missed of view ? misses.missed(content, view, unchanged) : []) note(missed, "quote");
    [context, unchanged] = [inputTotal(usage), Number.POSITIVE_INFINITY];
  };
  const resulted = (event: EventOf<"tool_result">): void => {
    const missed = misses.reread(event);
    if (missed) note(missed, "read");
    if (missed && model) dollars += costOf(againUsage(context, missed, model), model.prices);
    if (missed) context = 0;
  };
  return {
    take(event, moment) {
      if (moment) [view, unchanged] = [moment.view, Math.min(unchanged, moment.unchanged)];
      if (event.type === "session_started" || event.type === "model_changed") model = event.model;
      else if (event.type === "model_request") step += 1;
      else if (event.type === "assistant_message") answered(event);
      else if (event.type === "tool_result") resulted(event);
      titles.take(event, step);
      taken.take(event);
      misses.take(event);
    },
    forgotten: () => ({ taken: taken.count(), rows, rate: (100 * rows.length) / Math.max(1, step), dollars }),
  };
}

/** Keeps the step and the title of each call that gave a result. */
function titleReader() {
  const calls = new Map<string, ToolUseBlock>();
  const titles = new Map<number, { shown: number; what: string }>();
  const take = (event: LogEvent, step: number): void => {
    if (event.type === "assistant_message")
      for (const call of event.content.filter(isToolUse)) calls.set(call.id, call);
    const call = event.type === "tool_result" ? calls.get(event.toolUseId) : undefined;
    if (event.type !== "tool_result" || !call) return;
    const { verb, subject } = describeCall(call, event.call);
    const what = `${verb} ${subject.split("\n")[0] ?? ""}`.slice(0, 200).toWellFormed();
    titles.set(event.seq, { shown: step, what });
  };
  return { take, of: (seq: number) => titles.get(seq) };
}

/** Two things that one reply reads again share the step. */
function againUsage(context: number, { call, result }: Missed, { contract }: ModelCard): Usage {
  if (context > 0) return rereadUsage({ context, call, result }, contract);
  return { ...noUsage, cacheWrite5mTokens: call + result, outputTokens: call };
}

/** Counts the results that edits took, each once. */
function takenResults() {
  let left: number[] = [];
  let count = 0;
  const take = (event: LogEvent): void => {
    if (event.type === "tool_result") left.push(event.seq);
    if (event.type !== "context_edited") return;
    const replaced = new Set(event.edits.flatMap((edit) => (edit.type === "replace" ? [edit.seq] : [])));
    const spans = event.edits.filter((edit) => edit.type === "collapse");
    const stays = left.filter(
      (seq) => !replaced.has(seq) && !spans.some(({ from, to }) => seq >= from && seq <= to),
    );
    count += left.length - stays.length;
    left = stays;
  };
  return { take, count: () => count };
}

/** Says in a sentence how much was forgotten, and how much of it was asked for again; "" where no result was taken. */
export function forgottenText({ taken, rows, rate, dollars }: Forgotten): string {
  if (taken === 0) return "";
  const what = `Forgotten: ${plural(taken, "result")}.`;
  if (rows.length === 0) return `${what} None of it was asked for again.`;
  const read = rows.filter(({ by }) => by === "read").length;
  const quoted = rows.length - read;
  const times = `${plural(rows.length, "time", "times")} (${rate.toFixed(1)} of 100 steps)`;
  const parts = [
    ...(read > 0 ? [`${read} read again for ${money(dollars)}`] : []),
    ...(quoted > 0 ? [`${quoted} quoted without`] : []),
  ];
  return `${what} Asked for again ${times}: ${parts.join(", ")}.`;
}
