/** `sawtooth report`: the context and cost of a session as text, or the exact request of one of its steps. Pure. */

import {
  economicsText,
  formatDuration,
  formatPercent,
  formatTokens,
  money,
  plural,
  signed,
  signedPercent,
} from "../../context/report/amounts.ts";
import { bucketRows } from "../../context/report/cost.ts";
import { drawCurve } from "../../context/report/curve.ts";
import { decisionCounts, notableDecisions } from "../../context/report/decisions.ts";
import type { EditRow } from "../../context/report/edits.ts";
import { type SessionReport, sessionReport, stateOf } from "../../context/report/report.ts";
import { estimateError, hitRate, type StepRow } from "../../context/report/steps.ts";
import { requestOfStep } from "../../context/request/compose.ts";
import { requestOfSummary } from "../../context/request/summary-call.ts";
import { forgottenText } from "../../context/reuse/forgotten.ts";
import { sentenceOf } from "../../context/view/edit-words.ts";
import { decisionText } from "../../core/decision.ts";
import { UsageError } from "../../core/errors.ts";
import type { LogEvent } from "../../core/events.ts";
import { addUsage, inputTotal } from "../../core/model-card.ts";
import type { Model } from "../../core/ports.ts";
import { allOf } from "../../core/questions.ts";
import type { ModelRequest } from "../../core/request.ts";
import { cleanLine, formatInteger } from "../../core/text/clean-text.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { bar, cut, filled, wrap } from "./columns.ts";
import { delegateLines } from "./delegates.ts";

/** The whole report, 80 columns wide. `verbose`: all steps and edits. */
export function reportText(events: readonly LogEvent[], { verbose = false } = {}): string {
  const report = sessionReport(events);
  const chapters = [
    sessionLines(report),
    curveLines(report),
    windowLines(report),
    largestLines(report),
    serverLines(report),
    commandCallLines(report),
    instructionLines(report),
    editLines(report, verbose),
    forgottenLines(report, verbose),
    cacheLines(report),
    moneyLines(report),
    delegateLines(report),
    decisionLines(report, verbose),
    troubleLines(report, verbose),
    verbose ? stepsLines(report) : [],
  ];
  return `${chapters
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.trimEnd()).join("\n"))
    .join("\n\n")}\n`;
}

function sessionLines({ session, steps }: SessionReport): string[] {
  const { id, model, effort, context, from, to, userMessages, cwd } = session;
  const facts = [model, effort ? `effort ${effort}` : "", `context ${context}`].filter(Boolean).join(", ");
  const size = `${plural(steps.length, "step")} for ${plural(userMessages, "message")} in ${formatDuration(to - from)}`;
  return [
    ...wrap(`Session ${id}: ${cleanLine(stateOf(session))}`),
    cut(cleanLine(cwd), 80),
    ...wrap(`${facts}; ${size}`),
  ];
}

function curveLines({ size, steps, edits, soft, deferredTokens }: SessionReport): string[] {
  if (size.peak === 0) return ["No reply was reported yet."];
  return [
    `Context per step: peak ${formatInteger(size.peak)}, mean ${formatInteger(size.mean)}, last ${formatInteger(size.last)} tokens`,
    ...curveOf(steps, edits, soft.tokens),
    ...wrap(
      `Soft window: ${formatInteger(soft.tokens)} of ${formatInteger(soft.window)} tokens (${soft.source}). ` +
        `${edits.length > 0 ? "▲ is a context edit. " : ""}` +
        `${deferredTokens > 0 ? `Held: ${formatInteger(deferredTokens)} tokens could go, but it does not pay yet.` : ""}`,
    ),
  ];
}

function windowLines({ now, soft }: SessionReport): string[] {
  const rows = now.byKind
    .filter(({ tokens }) => tokens > 0)
    .toSorted((a, b) => b.tokens - a.tokens)
    .map(({ kind, tokens, share }) => bar(kind, formatInteger(tokens), share));
  const full = formatPercent(now.tokens / soft.tokens, 0);
  return [`In the window now: ${formatInteger(now.tokens)} tokens, ${full} of the soft window`, ...rows];
}

function largestLines({ now, session }: SessionReport): string[] {
  const rows = now.largest.map(({ tokens, step, what, advice }) => {
    const name = cleanLine(what).replaceAll(`${session.cwd}/`, "");
    const from = step === 0 ? "" : `step ${step}`;
    return `  ${formatInteger(tokens).padStart(7)}  ${from.padEnd(9)} ${filled(name, 24)}  ${cut(advice, 33)}`;
  });
  return ["The largest items, and what becomes of them", ...rows];
}

/** The tokens that each server of tools has in the window. */
function serverLines({ servers }: SessionReport): string[] {
  if (servers.length === 0) return [];
  return [
    "MCP servers in the window  catalogue  schemas read  results",
    ...servers.map(
      ({ name, catalogue, schemas, results }) =>
        `  ${filled(cleanLine(name), 24)} ${formatInteger(catalogue).padStart(9)} ${formatInteger(schemas).padStart(13)} ${formatInteger(results).padStart(8)}`,
    ),
  ];
}

/** The tools of servers that commands called. */
function commandCallLines({ commandCalls }: SessionReport): string[] {
  if (commandCalls.length === 0) return [];
  return [
    "MCP tools called by commands               calls  failed      bytes",
    ...commandCalls.map(
      ({ tool, calls, failed, bytes }) =>
        `  ${filled(cut(cleanLine(tool), 40), 40)} ${formatInteger(calls).padStart(5)} ${formatInteger(failed).padStart(7)} ${formatInteger(bytes).padStart(10)}`,
    ),
  ];
}

/** Instructions that were read and stay, with what sending them again has cost. */
function instructionLines({ instructions }: SessionReport): string[] {
  if (instructions.length === 0) return [];
  return [
    "Instructions that were read, and stay  tokens  sent with  cost",
    ...instructions.map(({ paths, tokens, requests, dollars }) => {
      const name = cleanLine(paths.join(", "));
      const end = name.length > 35 ? `…${name.slice(-34)}` : name;
      return `  ${filled(end, 35)} ${formatInteger(tokens).padStart(7)} ${String(requests).padStart(10)}  ${money(dollars)}`;
    }),
  ];
}

const shownEdits = 6;
const reasonWidth = 16;

function editLines(report: SessionReport, verbose: boolean): string[] {
  const { edits, elongation } = report;
  if (edits.length === 0) return ["No context edits."];
  const removed = edits.reduce((sum, edit) => sum + edit.removed, 0);
  const worth = edits.reduce((sum, edit) => sum + edit.hindsight.worth, 0);
  const shown = verbose ? edits : edits.slice(-shownEdits);
  const earlier = edits.length - shown.length;
  const again = `  After ${elongation.longer} of ${plural(elongation.lossy, "lossy edit")} more calls were repeated than before`;
  const most = elongation.longer > 0 ? ` (at most ${elongation.worst} more)` : "";
  return [
    `${plural(edits.length, "context edit")}: ${formatInteger(removed)} tokens removed, worth ${signed(worth)} in hindsight`,
    "  step  policy      removed  rewritten   expected  hindsight  reason",
    ...(earlier > 0 ? [`     …  ${plural(earlier, "earlier edit")}; --verbose shows all`] : []),
    ...shown.flatMap((edit) => [editLine(edit), ...(verbose ? editDetails(edit) : [])]),
    ...(elongation.lossy > 0 ? [`${again}${most}`] : []),
  ];
}

/** Results that edits took and that were asked for again, each thing when asked; nothing where no result was taken. */
function forgottenLines({ forgotten }: SessionReport, verbose: boolean): string[] {
  const { taken, rows } = forgotten;
  if (taken === 0) return [];
  return [
    ...wrap(forgottenText(forgotten)),
    ...(verbose ? rows : []).map(({ again, by, shown: first, what }) => {
      const how = by === "read" ? "read again" : "quoted";
      return cut(
        `${String(again).padStart(6)}  ${how.padEnd(10)} ${filled(cleanLine(what), 44)} of step ${first}`,
        80,
      );
    }),
  ];
}

function editLine({ step, policy, removed, rewritten, economics, hindsight, words }: EditRow): string {
  const { expectedSavingUsd: expected } = economics;
  const cells = [
    String(step).padStart(6),
    ` ${filled(policy, 10)}`,
    formatInteger(removed).padStart(8),
    formatInteger(rewritten).padStart(10),
    (typeof expected === "number" ? signed(expected) : "").padStart(10),
    signed(hindsight.worth).padStart(10),
    ` ${cut(cleanLine(words.cause), reasonWidth)}`,
  ];
  return cells.join(" ");
}

/** The words, the numbers as the policy logged them, what they came to, and what was done again. */
function editDetails({ economics, elongation, hindsight, words }: EditRow): string[] {
  const { steps, saved, spent } = hindsight;
  const lines = [
    cleanLine(sentenceOf(words)),
    cleanLine(economicsText(economics)),
    `${plural(steps, "later step")} saved ${money(saved)}, re-writing cost ${money(spent)}`,
  ];
  if (elongation) {
    const { before, after } = elongation;
    lines.push(
      `repeated in ${plural(before.steps, "step")} before: ${repeatsText(before)}; in ${after.steps} after: ${repeatsText(after)}`,
    );
  }
  return lines.flatMap((line) => wrap(line, 71)).map((line) => `         ${line}`);
}

function repeatsText({ rereads, repeats }: { rereads: number; repeats: number }): string {
  return `${plural(rereads, "read")}, ${plural(repeats, "command")}`;
}

function cacheLines({ cache, estimate }: SessionReport): string[] {
  const reasons: [number, string][] = [
    [cache.misses.edit, "after an edit"],
    [cache.misses.cold, "after a pause"],
    [cache.misses.model, "after a change of model"],
    [cache.misses.unexpected, "for no reason in the log"],
  ];
  const misses = reasons.filter(([times]) => times > 0).map(([times, why]) => `${times} ${why}`);
  const rewrites = misses.length > 0 ? `Steps that missed: ${misses.join(", ")}.` : "No step missed.";
  const { median, p95 } = estimate;
  return [
    ...wrap(`Cache: ${formatPercent(cache.hitRate)} of the input was read from it. ${rewrites}`),
    `Size estimate: off by ${formatPercent(median)} (median), ${formatPercent(p95)} (95th percentile)`,
  ];
}

function moneyLines({ cost, sideCalls }: SessionReport): string[] {
  const { total } = cost;
  const byKind = cost.byKind
    .map(({ kind, input, output }) => ({ kind, share: (input + output) / Math.max(1e-12, total) }))
    .filter(({ share }) => share >= 0.005)
    .map(({ kind, share }) => `${kind} ${formatPercent(share, 0)}`);
  return [
    `Cost: ${money(total)}${sideCalls.length > 0 ? `, ${plural(sideCalls.length, "summary call")} among it` : ""}`,
    ...bucketRows(cost)
      .filter(([, tokens, dollars]) => tokens + dollars > 0)
      .map(([name, tokens, dollars]) =>
        bar(
          name,
          `${(tokens > 0 ? formatInteger(tokens) : "").padStart(12)} ${money(dollars).padStart(9)}`,
          dollars / Math.max(1e-12, total),
        ),
      ),
    ...(byKind.length > 0
      ? wrap(`By what it was spent on: ${byKind.join(", ")}`, 78).map((line) => `  ${line}`)
      : []),
  ];
}

/** Who allowed and who denied; the newest calls that were asked about or denied, or all calls. */
function decisionLines({ decisions }: SessionReport, verbose: boolean): string[] {
  if (decisions.rows.length + decisions.unrecorded === 0) return [];
  const shown = verbose ? decisions.rows : notableDecisions(decisions).slice(-3);
  return [
    ...wrap(`Permissions: ${decisionCounts(decisions)}`),
    ...shown.map(({ step, what, record }) =>
      cut(
        `${String(step).padStart(6)}  ${filled(cleanLine(what), 28)}  ${cleanLine(decisionText(record))}`,
        80,
      ),
    ),
  ];
}

function troubleLines({ failures, warnings, sideCalls }: SessionReport, verbose: boolean): string[] {
  const rejected = sideCalls.filter(({ outcome }) => outcome !== "accepted");
  const lines = [
    ...failures.map((event) =>
      event.attempt > 0 ? `${event.kind}, tried again: ${event.message}` : `${event.kind}: ${event.message}`,
    ),
    ...rejected.map(({ outcome, detail }) => `summary ${outcome}: ${detail ?? ""}`),
    ...warnings.map(({ text }) => text),
  ];
  if (lines.length === 0) return [];
  const shown = verbose ? lines : lines.slice(-3);
  const title = `${plural(failures.length, "model failure")}, ${plural(warnings.length, "warning")}`;
  const which = shown.length < lines.length ? ` (the last ${shown.length}; --verbose shows all)` : "";
  return [`${title}${which}`, ...shown.map((line) => cut(`  ! ${cleanLine(line)}`, 80))];
}

function stepsLines({ steps }: SessionReport): string[] {
  return [" step    tokens estimate   hit write fresh   out     cost  what", ...steps.map(stepLine)];
}

function stepLine(row: StepRow): string {
  const { usage, miss, retries, calls } = row;
  const error = estimateError(row);
  const hit = hitRate(row);
  const notes = [
    usage ? "" : "no reply",
    miss ? `miss: ${miss}` : "",
    retries > 0 ? plural(retries, "retry", "retries") : "",
    calls.join(" ").replaceAll(toolNames.editor, "editor"),
  ];
  const cells = [
    String(row.step).padStart(5),
    formatInteger(row.tokens).padStart(9),
    (error === undefined ? "" : signedPercent(error)).padStart(8),
    (hit === undefined ? "" : formatPercent(hit, 0)).padStart(5),
    (usage ? formatTokens(usage.cacheWrite5mTokens + usage.cacheWrite1hTokens) : "").padStart(5),
    (usage ? formatTokens(usage.inputTokens) : "").padStart(5),
    (usage ? formatTokens(usage.outputTokens) : "").padStart(5),
    money(row.cost).padStart(8),
    ` ${cleanLine(notes.filter(Boolean).join(", "))}`,
  ];
  return cut(cells.join(" "), 80);
}

/** The curve, and steps, edits, tokens and dollars in a few lines. */
export function summaryText(events: readonly LogEvent[]): string {
  const { steps, edits, session, cost, cache } = sessionReport(events);
  const { usage, sideUsage, total } = cost;
  const all = addUsage(usage, sideUsage);
  const written = all.cacheWrite5mTokens + all.cacheWrite1hTokens;
  return [
    ...curveOf(steps, edits),
    "",
    `${plural(steps.length, "step")}, ${plural(session.toolResults, "tool result")}, ${plural(edits.length, "context edit")}${edits.length > 0 ? " (▲)" : ""}`,
    `input ${formatInteger(inputTotal(all))} tokens: ${formatInteger(all.cacheReadTokens)} read from cache (${formatPercent(cache.hitRate)}), ${formatInteger(written)} written, ${formatInteger(all.inputTokens)} uncached`,
    `output ${formatInteger(all.outputTokens)} tokens`,
    `cost ${money(total)}`,
  ].join("\n");
}

function curveOf(steps: readonly StepRow[], edits: readonly EditRow[], limit = 0): string[] {
  const marks = edits.map(({ step }) => step - 1);
  return drawCurve(
    steps.map(({ tokens }) => tokens),
    { limit, marks },
  );
}

/** The exact body of step `12`, or of summary call `summary-2`, rebuilt from the log. Throws `UsageError`. */
export function stepBody(events: readonly LogEvent[], which: string, encode: Model["encode"]): string {
  const [, summary, digits] = /^(summary-)?([1-9]\d*)$/.exec(which) ?? [];
  if (!digits)
    throw new UsageError(`--step ${which}: must be a step such as 12, or a summary call such as summary-1`);
  if (summary) return encode(summaryBody(events, Number(digits)));
  const composed = requestOfStep(events, Number(digits));
  const steps = allOf(events, "model_request").length;
  if (!composed) throw new UsageError(`--step ${which}: this session has ${plural(steps, "step")}`);
  return encode(composed.request);
}

function summaryBody(events: readonly LogEvent[], number: number): ModelRequest {
  const calls = allOf(events, "summary_call");
  const request = requestOfSummary(events, number);
  if (request) return request;
  const why =
    number > calls.length
      ? `this session has ${plural(calls.length, "summary call")}`
      : "its log does not say what was asked";
  throw new UsageError(`--step summary-${number}: ${why}`);
}
