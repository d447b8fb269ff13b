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
import { bucketRows, type Costs } from "../../context/report/cost.ts";
import type { DecisionRow } from "../../context/report/decisions.ts";
import type { DelegateRow } from "../../context/report/delegates.ts";
import type { EditRow } from "../../context/report/edits.ts";
import { type EgressRow, egressTotals } from "../../context/report/egress.ts";
import { estimateError, hitRate, type StepRow } from "../../context/report/steps.ts";
import type { WindowNow } from "../../context/report/window.ts";
import { decisionText } from "../../core/decision.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";
import { egressReason, formatBytes, hostText } from "../../core/network/egress.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { html } from "./escape.ts";

type Cell = string | number;

const classes: Record<string, string> = { ">": "n", _: "wide", "": "bars" };

/** Titles of columns: one that begins with ">" is for numbers, with "_" for words, "" for bars. */
const columnsOf = {
  egress: ["host", "decision", ">sent", ">received", ">connections", "_rule", "_command"],
  window: ["kind", ">tokens", ">share", ""],
  largest: [">tokens", "kind", ">step", "what", "_what becomes of it"],
  edits: [
    ...[">step", "policy", "_what left, and why", ">removed", ">re-written", ">expected", ">hindsight"],
    ...["repeated before, after", "numbers"],
  ],
  cost: ["bucket", ">tokens", ">cost", ">share", ""],
  kinds: ["kind", ">as input", ">as output", ">share", ""],
  steps: [
    ...[
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
    ],
    "what",
  ],
  delegates: ["_session", ">calls", ">cost", ">in place", "end", "_folder"],
  decisions: [">step", "what", "_decision", "mode", "_why it was asked"],
} as const satisfies Record<string, readonly string[]>;

export type TableName = keyof typeof columnsOf;

function classIn(table: TableName, index: number): string {
  return ` class="${classes[columnsOf[table][index]?.charAt(0) ?? ""] ?? ""}"`;
}

/** A table of rows that are HTML already. */
export function tableHtml(table: TableName, rows: readonly string[]): string {
  const head = columnsOf[table].map(
    (title, index) => `<th scope="col"${classIn(table, index)}>${titleHtml(title)}</th>`,
  );
  return `<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody data-rows="${table}">${rows.join("\n")}</tbody></table></div>`;
}

/** The title of a column; that of bars is for those who do not see them. */
function titleHtml(title: string): string {
  return title === "" ? '<span class="unseen">as a bar</span>' : html(title.replace(/^[>_]/, ""));
}

/** A row of a table; its cells are HTML already. */
function rowHtml(table: TableName, cells: readonly Cell[], attributes = ""): string {
  return `<tr${attributes}>${cells.map((cell, index) => `<td${classIn(table, index)}>${cell}</td>`).join("")}</tr>`;
}

function spent(dollars: number): string {
  return dollars === 0 ? '<span class="soft">0</span>' : money(dollars);
}

function bar(share: number): string {
  return `<span class="bar"><span style="width:${(100 * Math.max(0, share)).toFixed(1)}%"></span></span>`;
}

/** The hosts that commands connected to, beside the context that they filled. */
export function egressText(ledger: readonly EgressRow[]): string {
  const { hosts, up, down } = egressTotals(ledger);
  return `${plural(hosts, "host")}: sent ${formatBytes(up)}, received ${formatBytes(down)}.`;
}

export function egressRowHtml(row: EgressRow): string {
  return rowHtml("egress", [
    html(hostText(row)),
    row.decision === "allow" ? "" : `<b>${row.decision === "cut" ? "cut" : "refused"}</b>`,
    row.decision === "deny" ? "" : formatBytes(row.bytesUp),
    row.decision === "deny" ? "" : formatBytes(row.bytesDown),
    formatInteger(row.connections),
    html([row.rule, egressReason(row)].filter((part) => part !== undefined).join("; ")),
    `<code>${html(row.by)}</code>`,
  ]);
}

export function windowRows({ byKind }: WindowNow): string[] {
  return byKind
    .toSorted((a, b) => b.tokens - a.tokens)
    .map(({ kind, tokens, share }) =>
      rowHtml("window", [kind, formatInteger(tokens), formatPercent(share), bar(share)]),
    );
}

export function largestRows({ largest }: WindowNow, cwd: string): string[] {
  return largest.map(({ kind, tokens, step, what, advice }) =>
    rowHtml("largest", [
      formatInteger(tokens),
      kind,
      step === 0 ? "" : stepLink(step),
      `<code>${html(what.replaceAll(`${cwd}/`, ""))}</code>`,
      html(advice),
    ]),
  );
}

/** `index`: of the edit. Its worth and its repeats change with later steps: the elements for them are empty. */
export function editRowHtml(edit: EditRow, index: number): string {
  return rowHtml("edits", editCells(edit, index), ` id="edit-${index}"`);
}

function editCells(edit: EditRow, index: number): Cell[] {
  const { step, policy, words, removed, rewritten, economics } = edit;
  const { expectedSavingUsd: expected } = economics;
  return [
    stepLink(step),
    html(policy),
    html([words.parts, words.why].filter(Boolean).join("; ")),
    formatInteger(removed),
    formatInteger(rewritten),
    typeof expected === "number" ? signed(expected) : "",
    `<span id="worth-${index}"></span>`,
    `<span id="repeats-${index}"></span>`,
    `<small>${html(economicsText(economics))}</small>`,
  ];
}

/** The worth of an edit until now. */
export function worthHtml({ hindsight: { steps, saved, spent, worth } }: Pick<EditRow, "hindsight">): string {
  const text = `${plural(steps, "later step")} saved ${money(saved)}, re-writing cost ${money(spent)}`;
  return `<span title="${html(text)}">${signed(worth)}</span>`;
}

/** The repeated calls around an edit. */
export function repeatsHtml({ before, after, excess }: NonNullable<EditRow["elongation"]>): string {
  const of = ({ rereads, repeats }: typeof before) => rereads + repeats;
  const title = `${plural(before.rereads, "read")} and ${plural(before.repeats, "command")} in ${plural(before.steps, "step")} before; ${plural(after.rereads, "read")} and ${plural(after.repeats, "command")} in ${after.steps} after`;
  return `<span title="${html(title)}">${of(before)}, ${of(after)}${excess >= 1 ? ` <b>+${excess}</b>` : ""}</span>`;
}

export function costRows(cost: Costs): string[] {
  return bucketRows(cost).map(([name, tokens, dollars]) => {
    const share = cost.total === 0 ? 0 : dollars / cost.total;
    return rowHtml("cost", [name, formatInteger(tokens), spent(dollars), formatPercent(share), bar(share)]);
  });
}

export function kindRows({ byKind, total }: Costs): string[] {
  return byKind.map(({ kind, input, output }) => {
    const share = total === 0 ? 0 : (input + output) / total;
    return rowHtml("kinds", [kind, spent(input), spent(output), formatPercent(share), bar(share)]);
  });
}

export function stepRowHtml(row: StepRow): string {
  return rowHtml("steps", stepCells(row));
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

/** Items of the list of failures and warnings that an event brings; none for most. */
export function troubleItems(event: LogEvent): string[] {
  switch (event.type) {
    case "model_failed": {
      const { kind, message, attempt } = event;
      return [`<li>${html(`${kind}${attempt > 0 ? ", tried again" : ""}: ${message}`)}</li>`];
    }
    case "summary_call":
      if (event.outcome === "accepted") return [];
      return [`<li>${html(`summary ${event.outcome}: ${event.detail ?? ""}`)}</li>`];
    case "warning":
      return [`<li>${html(event.text)}</li>`];
    default:
      return [];
  }
}

/** The session that delegates, above its sub-agents: `calls` and `cost` are its own. */
export function delegatingRowHtml(id: string, calls: number, cost: number): string {
  return rowHtml("delegates", [html(id), formatInteger(calls), money(cost), "", "this session", ""]);
}

/** A sub-agent: what it was asked, what it cost here, and what the same calls would have cost in place. */
export function delegateRowHtml({ brief, calls, cost, end, folder }: DelegateRow): string {
  return rowHtml("delegates", [
    `↳ ${html(brief.slice(0, 200))}`,
    formatInteger(calls),
    money(cost),
    end ? money(end.economics.inPlaceUsd) : "",
    end ? (end.reason === "completed" ? "reported" : end.reason.replaceAll("_", " ")) : "not ended",
    `<code>${html(folder)}</code>`,
  ]);
}

/** One decision about a call, as it was recorded. */
export function decisionRowHtml({ step, what, record }: DecisionRow): string {
  return rowHtml("decisions", [
    step === 0 ? "" : stepLink(step),
    `<code>${html(what)}</code>`,
    html(decisionText(record)),
    html(record.mode ?? ""),
    html(record.asked?.reason ?? ""),
  ]);
}

/** A call for a summary: who was asked, what came of it and what it cost; it opens to its exact request. */
export function summaryHtml(call: EventOf<"summary_call">, number: number): string {
  const { model, outcome, detail, usage, price } = call;
  const expected = price
    ? `, expected ${money(price.ownUsd)}${price.otherUsd === undefined ? "" : ` on the own model, ${money(price.otherUsd)} on the cheapest other`}`
    : "";
  const words = `${number}. ${model}, ${outcome}${detail ? ` (${detail})` : ""}: ${formatInteger(inputTotal(usage))} tokens in, ${formatInteger(usage.outputTokens)} out${expected}`;
  return `<details data-summary="${number}"><summary>${html(words)}</summary></details>`;
}
