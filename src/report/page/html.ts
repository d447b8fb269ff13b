/** The report of a session as one page: self-contained, or one that grows while it is served. */

import { createHash } from "node:crypto";
import { momentsOf } from "../../context/report/walk.ts";
import { composeRequest } from "../../context/request/compose.ts";
import { requestOfSummary } from "../../context/request/summary-call.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { allOf, started } from "../../core/questions.ts";
import type { ModelRequest } from "../../core/request.ts";
import { pageScript, pageStyle } from "./assets.ts";
import type { Changes } from "./changes.ts";
import { html, scriptJson } from "./escape.ts";
import { bodyHtml } from "./layout.ts";
import { pageReader } from "./page-reader.ts";
import { packBodies } from "./request-pieces.ts";

/**
 * A page with every request in it; it needs no network. `encode`: the exact body for a request, as the session's model
 * puts it on the wire.
 */
export function reportHtml(events: readonly LogEvent[], encode: (request: ModelRequest) => string): string {
  const start = started(events);
  const { take, settle, changes } = pageReader(start);
  take(events);
  settle();
  return documentOf(start, changes, {
    requests: packBodies(bodiesOf(events, encode)),
    summaries: packBodies(summaryBodies(events, encode)),
  });
}

/** The beginning of a served page: `from` is the id of the newest change in it. */
export type Live = { from: string };

/** A page that asks its server for requests and for what changed since. */
export function liveHtml(start: EventOf<"session_started">, changes: Changes, live: Live): string {
  return documentOf(start, changes, { live, bars: changes.list("bars"), frame: changes.get("frame") });
}

/** The Content-Security-Policy of a page: it runs its own script, and when it is served, asks where it came from. */
export function pagePolicy(served: boolean): string {
  const connect = served ? "connect-src 'self'; " : "";
  return `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${sha256(pageScript)}'; ${connect}base-uri 'none'; form-action 'none'`;
}

function documentOf(
  start: EventOf<"session_started">,
  changes: Changes,
  more: { live?: Live; [field: string]: unknown },
): string {
  const data = { steps: changes.list("step"), edits: changes.list("edit"), ...more };
  const served = more.live !== undefined;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(served)}">
<title>Sawtooth: ${html(start.sessionId)}</title><style>${pageStyle}</style></head><body>
${bodyHtml(start, changes, served)}
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
