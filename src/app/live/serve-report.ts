/** Serves the report of a session while another process works on it. */

import { storedRedactor } from "../../config/env-files.ts";
import { requestOfStep } from "../../context/request/compose.ts";
import { requestOfSummary } from "../../context/request/summary-call.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { redactedValue } from "../../core/secrets/redact.ts";
import { holderOf } from "../../disk/claim.ts";
import { type LiveReport, liveReport } from "../../report/live/live-report.ts";
import { pagePolicy } from "../../report/page/html.ts";
import { SessionError } from "../../session/errors.ts";
import { followLog } from "../../session/follow.ts";
import { logFile } from "../../session/listing.ts";
import { readSession } from "../../session/store.ts";
import { encodingOf } from "../models.ts";
import { type Served, servePage } from "./page-server.ts";

const lookEveryMs = 250;
/** Looks in a row that must find nobody writing until the session counts as ended: one process may hand it to another. */
const looksUntilEnd = 8;

export type ServedReport = {
  id: string;
  url: string;
  /** True while a process works on the session. */
  hasWriter: boolean;
  /** Resolves when the session ended; never for one that nobody had open. */
  ended: Promise<void>;
  close(farewell: string): Promise<void>;
};

/** The report of one log, with its events as the page may show them. A log that was replaced is another one. */
type Shown = { events: LogEvent[]; report: LiveReport; generation: number; encode: Encode };
type Encode = Awaited<ReturnType<typeof encodingOf>>;

/** Follows a session by its id, the beginning of one or its name; without, the newest of this folder. Throws `SessionError`. */
export async function serveReport(
  root: string,
  id: string | undefined,
  warn: (text: string) => void,
): Promise<ServedReport> {
  const which = id ? { id } : { newest: true, cwd: process.cwd() };
  const { folder, start, id: found } = readSession({ root, ...which, warn });
  const look = followLog(logFile(folder));
  const hide = storedRedactor(process.env, [start.cwd]);
  let shown = await shownOf(redactedValue(look().events, hide), 1);
  const server = await servePage(servedBy(() => shown));
  let working = false;
  const update = async (): Promise<void> => {
    const { events, replaced } = look();
    const added = redactedValue(events, hide);
    if (replaced && added[0]?.type === "session_started") shown = await shownOf(added, shown.generation + 1);
    else if (added.length > 0 && !replaced) {
      shown.events.push(...added);
      shown.report.take(added);
      shown.encode = await encodingOf(shown.events);
    }
    shown.report.settle();
    server.push();
  };
  const { ended, stop } = watch(folder, async () => {
    if (working) return;
    working = true;
    await update().finally(() => {
      working = false;
    });
  });
  return {
    ...{ id: found, url: server.url, hasWriter: holderOf(folder) !== undefined, ended },
    async close(farewell) {
      stop();
      await update();
      while (!shown.report.settle()) server.push();
      server.push();
      await server.close(farewell);
    },
  };
}

async function shownOf(events: LogEvent[], generation: number): Promise<Shown> {
  const start = events[0];
  if (start?.type !== "session_started")
    throw new SessionError("the beginning of the session's log is damaged");
  const report = liveReport(start as EventOf<"session_started">, String(generation));
  report.take(events);
  while (!report.settle());
  return { events, report, generation, encode: await encodingOf(events) };
}

/** Looks again and again; `ended` resolves once nobody works on the session any more. */
function watch(folder: string, look: () => Promise<void>): { ended: Promise<void>; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    let [seen, missed] = [false, 0];
    timer = setInterval(() => {
      const held = isHeld(folder);
      seen ||= held;
      missed = held ? 0 : missed + 1;
      look().catch(reject);
      if (seen && missed >= looksUntilEnd) resolve();
    }, lookEveryMs);
  });
  return { ended, stop: () => clearInterval(timer) };
}

function isHeld(folder: string): boolean {
  try {
    return holderOf(folder) !== undefined;
  } catch {
    // The folder is gone: somebody removed the session.
    return false;
  }
}

function servedBy(shown: () => Shown): Served {
  return {
    page: () => shown().report.html(),
    policy: pagePolicy(true),
    body(kind, number) {
      const { events, encode } = shown();
      const request =
        kind === "step" ? requestOfStep(events, number)?.request : requestOfSummary(events, number);
      return request && encode(request);
    },
    message(after) {
      const { report, generation } = shown();
      const [, of, revision] = /^(\d+)\.(\d+)$/.exec(after) ?? [];
      if (Number(of) !== generation || Number(revision) > report.revision()) return "reload";
      const message = report.message(Number(revision));
      return message && { text: message.text, id: `${generation}.${message.to}` };
    },
  };
}
