/** The body of the report page, out of its texts and rows. Pure. */

import type { EventOf } from "../../core/events.ts";
import type { Changes } from "./changes.ts";
import { html } from "./escape.ts";
import { type CurveFrame, curveHtml } from "./svg.ts";
import { type TableName, tableHtml } from "./tables.ts";

/** `live`: a line that says how the page is kept up to date. */
export function bodyHtml(
  { sessionId, cwd }: EventOf<"session_started">,
  changes: Changes,
  live: boolean,
): string {
  const { get, list } = changes;
  const text = (id: string) => `<p class="soft" id="${id}">${get(id)}</p>`;
  const table = (name: TableName) => tableHtml(name, list(name));
  const listed = (name: string) => ` data-for="${name}"${list(name).length === 0 ? " hidden" : ""}`;
  const curve = curveHtml(JSON.parse(get("frame")) as CurveFrame, {
    bars: list("bars").map((bars) => bars.split("|")),
    cuts: list("cuts"),
    marks: list("marks"),
  });
  const filled = (row: string) =>
    row.replace(/<span id="((?:worth|repeats)-\d+)">/g, (span, id: string) => `${span}${get(id)}`);
  return `<header><h1>Session ${html(sessionId)}</h1>
${live ? '<p id="live" role="status">Connecting…</p>' : ""}${text("session")}<p class="soft"><code>${html(cwd)}</code></p>
${text("soft")}</header>
<main><div class="facts" data-rows="figures">${list("figures").join("")}</div>
<section><h2>Context over steps</h2>${curve}</section>
<section${listed("egress")}><h2>Network</h2>${text("egress-note")}${table("egress")}</section>
<section><h2>In the window now</h2>${text("deferred")}
${table("window")}<h3>The largest items</h3>${table("largest")}</section>
<section><h2>Context edits</h2>${text("edits-note")}${text("forgotten")}<div${listed("edits")}>${tableHtml("edits", list("edits").map(filled))}</div></section>
<section><h2>Where the money went</h2><div class="pair"><div><h3>By bucket of the bill</h3>${table("cost")}</div><div><h3>By what it was for</h3>${table("kinds")}</div></div>
${text("misses")}</section>
<section${listed("delegates")}><h2>Sub-agents</h2><p class="soft">Sessions of their own, billed here: the sum of the tree is the bill.</p>${table("delegates")}</section>
<section${listed("summaries")}><h2>Summary calls</h2><p class="soft">Each opens to the exact request, rebuilt from the log.</p><div data-rows="summaries">${list("summaries").join("\n")}</div></section>
<section${listed("decisions")}><h2>Permissions</h2>${text("decisions-note")}<details><summary>All, as they were recorded</summary>${table("decisions")}</details></section>
<section${listed("trouble")}><h2>Failures and warnings</h2><ul data-rows="trouble">${list("trouble").join("")}</ul></section>
<section><h2>Steps</h2><details><summary>All, with the numbers of each</summary>${table("steps")}</details></section>
<section id="requests"><h2>Requests</h2><div class="walk"><button type="button" id="earlier">earlier</button><label>step <input id="wanted" type="number" min="1" max="${list("bars").length}"></label><button type="button" id="later">later</button><span class="soft">exactly as sent, rebuilt from the log</span></div><div id="request"></div></section></main>`;
}
