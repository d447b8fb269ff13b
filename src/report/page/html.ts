/** The report of a session as one self-contained page: no network, no script but its own. */

import { createHash } from "node:crypto";
import {
  economicsText,
  formatDuration,
  formatPercent,
  money,
  plural,
  signed,
} from "../../context/report/amounts.ts";
import type { EditRow } from "../../context/report/edits.ts";
import { type SessionReport, sessionReport, stateOf } from "../../context/report/report.ts";
import { hitRate, type StepRow } from "../../context/report/steps.ts";
import { momentsOf } from "../../context/report/walk.ts";
import { composeRequest } from "../../context/request/compose.ts";
import { requestOfSummary } from "../../context/request/summary-call.ts";
import type { LogEvent } from "../../core/events.ts";
import { allOf } from "../../core/questions.ts";
import type { ModelRequest } from "../../core/request.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { pageScript, pageStyle } from "./assets.ts";
import { html, scriptJson } from "./escape.ts";
import { packBodies } from "./request-pieces.ts";
import { curveHtml } from "./svg.ts";
import * as tables from "./tables.ts";

/** `encode`: the exact body for a request, as the session's model puts it on the wire. */
export function reportHtml(events: readonly LogEvent[], encode: (request: ModelRequest) => string): string {
  const report = sessionReport(events);
  const data = {
    steps: report.steps.map(stepText),
    edits: report.edits.map(editText),
    requests: packBodies(bodiesOf(events, encode)),
    summaries: packBodies(summaryBodies(events, encode)),
  };
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${sha256(pageScript)}'; base-uri 'none'; form-action 'none'">
<title>Sawtooth: ${html(report.session.id)}</title><style>${pageStyle}</style></head><body>
${headerHtml(report)}
${bodyHtml(report, events)}
<script type="application/json" id="data">${scriptJson(data)}</script>
<script>${pageScript}</script></body></html>
`;
}

/** The body of every step, rebuilt from the log. */
function* bodiesOf(
  events: readonly LogEvent[],
  encode: (request: ModelRequest) => string,
): Generator<string> {
  for (const { event, events: before, view } of momentsOf(events)) {
    if (event.type === "model_request") yield encode(composeRequest(before, view).request);
  }
}

/** The body of every summary call, rebuilt from the log; empty where an old log does not say what was asked. */
function summaryBodies(events: readonly LogEvent[], encode: (request: ModelRequest) => string): string[] {
  return allOf(events, "summary_call").map((_, index) => {
    const request = requestOfSummary(events, index + 1);
    return request ? encode(request) : "";
  });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function headerHtml({ session, size, steps, cache, cost, edits, soft, now }: SessionReport): string {
  const { id, cwd, model, effort, context, from, to, userMessages } = session;
  const worth = edits.reduce((sum, edit) => sum + edit.hindsight.worth, 0);
  const removed = edits.reduce((sum, edit) => sum + edit.removed, 0);
  const facts = [
    ["steps", formatInteger(steps.length)],
    ["peak tokens", formatInteger(size.peak)],
    ["mean tokens", formatInteger(size.mean)],
    ["tokens now", `${formatInteger(now.tokens)}`],
    ["read from cache", formatPercent(cache.hitRate)],
    ["cost", money(cost.total)],
    ["tokens forgotten", formatInteger(removed)],
    ["worth of it", signed(worth)],
  ];
  return `<header><h1>Session ${html(id)}</h1>
<p class="soft">${html(`${model}${effort ? `, effort ${effort}` : ""}, context ${context}; ${plural(userMessages, "message")} in ${formatDuration(to - from)}; ${stateOf(session)}`)}<br><code>${html(cwd)}</code></p>
<p class="soft">Soft window: ${formatInteger(soft.tokens)} of ${formatInteger(soft.window)} tokens (${html(soft.source)})</p></header>
<div class="facts">${facts.map(([name, value]) => `<div><b>${html(value ?? "")}</b><span>${html(name ?? "")}</span></div>`).join("")}</div>`;
}

function bodyHtml(report: SessionReport, events: readonly LogEvent[]): string {
  const { edits, elongation, estimate, cache, deferredTokens, steps } = report;
  const { misses } = cache;
  const trouble = tables.troubleList(report);
  const again = `After ${elongation.longer} of ${plural(elongation.lossy, "lossy edit")}, more calls were repeated in the next 15 steps than in the 15 before.`;
  return `<section><h2>Context over steps</h2>${curveHtml(report)}</section>
${tables.egressSection(events)}
<section><h2>In the window now</h2>${deferredTokens > 0 ? `<p class="soft">${formatInteger(deferredTokens)} tokens could be forgotten, but it does not pay yet.</p>` : ""}
${tables.windowTable(report)}<h3>The largest items</h3>${tables.largestTable(report)}</section>
<section><h2>Context edits</h2>${edits.length === 0 ? '<p class="soft">There were none.</p>' : `<p class="soft">${again}</p>${tables.editsTable(report)}`}</section>
<section><h2>Where the money went</h2><div class="pair"><div><h3>By bucket of the bill</h3>${tables.costTable(report)}</div><div><h3>By what it was for</h3>${tables.kindCostTable(report)}</div></div>
<p class="soft">Steps that read less from the cache than stood in it: ${misses.edit} after an edit, ${misses.cold} after a pause, ${misses.model} after a change of model, ${misses.unexpected} for no reason in the log.
The size estimate was off by ${formatPercent(estimate.median)} in the median step and ${formatPercent(estimate.p95)} at the 95th percentile.</p></section>
${tables.summaryCalls(report)}
${tables.decisionSection(report)}
${trouble ? `<section><h2>Failures and warnings</h2>${trouble}</section>` : ""}
<section><h2>Steps</h2><details><summary>All ${steps.length}, with the numbers of each</summary>${tables.stepsTable(report)}</details></section>
<section id="requests"><h2>Requests</h2><div class="walk"><button type="button" id="earlier">earlier</button><label>step <input id="wanted" type="number" min="1" max="${steps.length}"></label><button type="button" id="later">later</button><span class="soft">exactly as sent, rebuilt from the log</span></div><div id="request"></div></section>`;
}

/** The text shown for the step under the pointer. */
function stepText(row: StepRow): string {
  const hit = hitRate(row);
  return [
    `Step ${row.step}: ${formatInteger(row.tokens)} tokens${row.usage ? "" : ", estimated: no reply was reported"}`,
    hit === undefined ? "" : `${formatPercent(hit)} from cache`,
    row.usage ? money(row.cost) : "",
    row.miss ? `cache miss: ${row.miss}` : "",
    row.retries > 0 ? plural(row.retries, "retry", "retries") : "",
    row.deferredTokens > 0 ? `${formatInteger(row.deferredTokens)} tokens deferred` : "",
    row.calls.join(", "),
  ]
    .filter(Boolean)
    .join("; ");
}

function editText({ step, policy, reason, removed, hindsight, economics }: EditRow): string {
  const numbers = economicsText(economics);
  return `Before step ${step}, ${policy}: ${reason}. ${formatInteger(removed)} tokens removed, worth ${signed(hindsight.worth)} in hindsight over ${plural(hindsight.steps, "step")}${numbers ? ` (${numbers})` : ""}.`;
}
