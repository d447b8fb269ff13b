/** The tables of the report page. Pure. */

import {
  economicsText,
  formatDuration,
  formatPercent,
  money,
  plural,
  signed,
  signedPercent,
} from "../../context/report/amounts.ts";
import { bucketRows } from "../../context/report/cost.ts";
import { decisionCounts } from "../../context/report/decisions.ts";
import type { EditRow } from "../../context/report/edits.ts";
import { egressRows, egressTotals } from "../../context/report/egress.ts";
import type { SessionReport } from "../../context/report/report.ts";
import { estimateError, hitRate, type StepRow } from "../../context/report/steps.ts";
import { decisionText } from "../../core/decision.ts";
import type { LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";
import { egressReason, formatBytes, hostText } from "../../core/network/egress.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { html } from "./escape.ts";

type Cell = string | number;

const classes: Record<string, string> = { ">": "n", _: "wide", "": "bars" };

/**
 * `columns`: titles; one that begins with ">" is for numbers, with "_" for words, "" for bars. Cells are HTML already.
 */
function table(
  columns: readonly string[],
  rows: readonly { attributes?: string; cells: readonly Cell[] }[],
): string {
  const kind = (index: number) => ` class="${classes[columns[index]?.charAt(0) ?? ""] ?? ""}"`;
  const head = columns.map(
    (title, index) => `<th scope="col"${kind(index)}>${html(title.replace(/^[>_]/, ""))}</th>`,
  );
  const body = rows.map(({ attributes = "", cells }) => {
    return `<tr${attributes}>${cells.map((cell, index) => `<td${kind(index)}>${cell}</td>`).join("")}</tr>`;
  });
  return `<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("\n")}</tbody></table></div>`;
}

function spent(dollars: number): string {
  return dollars === 0 ? '<span class="soft">0</span>' : money(dollars);
}

function bar(share: number): string {
  return `<span class="bar"><span style="width:${(100 * Math.max(0, share)).toFixed(1)}%"></span></span>`;
}

/** The connections of commands, beside the context that they filled; nothing where there were none. */
export function egressSection(events: readonly LogEvent[]): string {
  const ledger = egressRows(events);
  if (ledger.length === 0) return "";
  const { hosts, up, down } = egressTotals(ledger);
  const rows = ledger.map((row) => ({
    cells: [
      html(hostText(row)),
      row.decision === "allow" ? "" : `<b>${row.decision === "cut" ? "cut" : "refused"}</b>`,
      row.decision === "deny" ? "" : formatBytes(row.bytesUp),
      row.decision === "deny" ? "" : formatBytes(row.bytesDown),
      formatInteger(row.connections),
      html([row.rule, egressReason(row)].filter((part) => part !== undefined).join("; ")),
      `<code>${html(row.by)}</code>`,
    ],
  }));
  return `<section><h2>Network</h2><p class="soft">${plural(hosts, "host")}: sent ${formatBytes(up)}, received ${formatBytes(down)}.</p>
${table(["host", "", ">sent", ">received", ">connections", "_rule", "_command"], rows)}</section>`;
}

export function windowTable({ now }: SessionReport): string {
  const sorted = now.byKind.toSorted((a, b) => b.tokens - a.tokens);
  const rows = sorted.map(({ kind, tokens, share }) => ({
    cells: [kind, formatInteger(tokens), formatPercent(share), bar(share)],
  }));
  return table(["kind", ">tokens", ">share", ""], rows);
}

export function largestTable({ now, session }: SessionReport): string {
  const rows = now.largest.map(({ kind, tokens, step, what, advice }) => ({
    cells: [
      formatInteger(tokens),
      kind,
      step === 0 ? "" : stepLink(step),
      `<code>${html(what.replaceAll(`${session.cwd}/`, ""))}</code>`,
      html(advice),
    ],
  }));
  return table([">tokens", "kind", ">step", "what", "_what becomes of it"], rows);
}

export function editsTable({ edits }: SessionReport): string {
  const rows = edits.map((edit, index) => ({ attributes: ` id="edit-${index}"`, cells: editCells(edit) }));
  return table(
    [
      ">step",
      "policy",
      "_reason",
      ">removed",
      ">re-written",
      ">expected",
      ">hindsight",
      "repeated before, after",
      "numbers",
    ],
    rows,
  );
}

function editCells({
  step,
  policy,
  reason,
  removed,
  rewritten,
  economics,
  hindsight,
  elongation,
}: EditRow): Cell[] {
  const { expectedSavingUsd: expected } = economics;
  const { steps, saved, spent, worth } = hindsight;
  const text = `${plural(steps, "later step")} saved ${money(saved)}, re-writing cost ${money(spent)}`;
  return [
    stepLink(step),
    html(policy),
    html(reason),
    formatInteger(removed),
    formatInteger(rewritten),
    typeof expected === "number" ? signed(expected) : "",
    `<span title="${html(text)}">${signed(worth)}</span>`,
    elongation ? repeatsCell(elongation) : "",
    `<small>${html(economicsText(economics))}</small>`,
  ];
}

function repeatsCell({ before, after, excess }: NonNullable<EditRow["elongation"]>): string {
  const of = ({ rereads, repeats }: typeof before) => rereads + repeats;
  const title = `${plural(before.rereads, "read")} and ${plural(before.repeats, "command")} in ${plural(before.steps, "step")} before; ${plural(after.rereads, "read")} and ${plural(after.repeats, "command")} in ${after.steps} after`;
  return `<span title="${html(title)}">${of(before)}, ${of(after)}${excess >= 1 ? ` <b>+${excess}</b>` : ""}</span>`;
}

export function costTable({ cost }: SessionReport): string {
  const { total } = cost;
  return table(
    ["bucket", ">tokens", ">cost", ">share", ""],
    bucketRows(cost).map(([name, tokens, dollars]) => {
      const share = total === 0 ? 0 : dollars / total;
      return { cells: [name, formatInteger(tokens), spent(dollars), formatPercent(share), bar(share)] };
    }),
  );
}

export function kindCostTable({ cost }: SessionReport): string {
  const rows = cost.byKind.map(({ kind, input, output }) => {
    const share = cost.total === 0 ? 0 : (input + output) / cost.total;
    return { cells: [kind, spent(input), spent(output), formatPercent(share), bar(share)] };
  });
  return table(["kind", ">as input", ">as output", ">share", ""], rows);
}

export function stepsTable({ steps }: SessionReport): string {
  return table(
    [
      ">step",
      ">tokens",
      ">estimate",
      ">hit",
      ">read",
      ">written",
      ">uncached",
      ">output",
      ">cost",
      ">time",
      "what",
    ],
    steps.map((step) => ({ cells: stepCells(step) })),
  );
}

function stepCells(row: StepRow): Cell[] {
  const { usage, miss, retries, calls, durationMs } = row;
  const [error, hit] = [estimateError(row), hitRate(row)];
  const notes = [
    usage ? "" : "no reply",
    miss ? `<b>miss: ${miss}</b>` : "",
    retries > 0 ? plural(retries, "retry", "retries") : "",
    html(calls.join(", ")),
  ];
  return [
    stepLink(row.step),
    formatInteger(row.tokens),
    error === undefined ? "" : signedPercent(error),
    hit === undefined ? "" : formatPercent(hit, 0),
    usage ? formatInteger(usage.cacheReadTokens) : "",
    usage ? formatInteger(usage.cacheWrite5mTokens + usage.cacheWrite1hTokens) : "",
    usage ? formatInteger(usage.inputTokens) : "",
    usage ? formatInteger(usage.outputTokens) : "",
    money(row.cost),
    durationMs > 0 ? formatDuration(durationMs) : "",
    notes.filter(Boolean).join("; "),
  ];
}

function stepLink(step: number): string {
  return `<button type="button" class="step" data-step="${step}" title="Show the request of step ${step}">${step}</button>`;
}

/** Model failures, rejected summaries and warnings as a list; "" when there were none. */
export function troubleList({ failures, sideCalls, warnings }: SessionReport): string {
  const lines = [
    ...failures.map(
      ({ kind, message, attempt }) => `${kind}${attempt > 0 ? ", tried again" : ""}: ${message}`,
    ),
    ...sideCalls
      .filter(({ outcome }) => outcome !== "accepted")
      .map(({ outcome, detail }) => `summary ${outcome}: ${detail ?? ""}`),
    ...warnings.map(({ text }) => text),
  ];
  return lines.length === 0 ? "" : `<ul>${lines.map((line) => `<li>${html(line)}</li>`).join("")}</ul>`;
}

/** Who allowed and denied the calls, with each decision as it was recorded; "" when there was none. */
export function decisionSection({ decisions }: SessionReport): string {
  if (decisions.rows.length + decisions.unrecorded === 0) return "";
  const rows = decisions.rows.map(({ step, what, record }) => ({
    cells: [
      step === 0 ? "" : stepLink(step),
      `<code>${html(what)}</code>`,
      html(decisionText(record)),
      html(record.mode ?? ""),
      html(record.asked?.reason ?? ""),
    ],
  }));
  const all = table([">step", "what", "_decision", "mode", "_why it was asked"], rows);
  return `<section><h2>Permissions</h2><p class="soft">${html(decisionCounts(decisions))}</p><details><summary>All ${rows.length}, as they were recorded</summary>${all}</details></section>`;
}

/** The calls for summaries: who was asked, what came of it and what it cost; each opens to its exact request. */
export function summaryCalls({ sideCalls }: SessionReport): string {
  if (sideCalls.length === 0) return "";
  const rows = sideCalls.map(({ model, outcome, detail, usage, price }, index) => {
    const expected = price
      ? `, expected ${money(price.ownUsd)}${price.otherUsd === undefined ? "" : ` on the own model, ${money(price.otherUsd)} on the cheapest other`}`
      : "";
    const words = `${index + 1}. ${model}, ${outcome}${detail ? ` (${detail})` : ""}: ${formatInteger(inputTotal(usage))} tokens in, ${formatInteger(usage.outputTokens)} out${expected}`;
    return `<details data-summary="${index + 1}"><summary>${html(words)}</summary></details>`;
  });
  return `<section><h2>Summary calls</h2><p class="soft">Each opens to the exact request, rebuilt from the log.</p>${rows.join("\n")}</section>`;
}
