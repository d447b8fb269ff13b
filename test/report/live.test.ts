import { describe, expect, test } from "vitest";
import { sessionReport } from "../../src/context/report/report.ts";
import type { EventBody, EventOf, LogEvent } from "../../src/core/events.ts";
import { liveReport, mostBytes } from "../../src/report/live/live-report.ts";
import { reportHtml } from "../../src/report/page/html.ts";
import { pageReader } from "../../src/report/page/page-reader.ts";
import { call, memoryLog, reply, result, user } from "../support/logs.ts";
import { longLog, sessionLog } from "../support/report-log.ts";

const startOf = (events: readonly LogEvent[]) => events[0] as EventOf<"session_started">;

type Message = { text: string; to: number };

/** The messages after a revision, all of them. */
function messagesSince(message: (since: number) => Message | undefined, since: number): Message[] {
  const found: Message[] = [];
  for (let next = message(since); next; next = message(next.to)) found.push(next);
  return found;
}

function changesIn(messages: readonly Message[]): [string, string][] {
  return messages.flatMap(({ text }) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "[]"));
}

describe.each(["free", "prefix_bound"] as const)("a session on a %s history, read as it grew", (history) => {
  test("leads to the texts of a page that is made at its end, whenever one began to follow", async () => {
    const events = await sessionLog(history);
    const live = liveReport(startOf(events), "1");
    const pages: { revision: number; texts: Map<string, string> }[] = [];
    const texts = new Map<string, string>();
    const follow = (since: number) => {
      for (const [key, value] of changesIn(messagesSince(live.message, since))) texts.set(key, value);
    };
    let revision = 0;
    for (const [index, event] of events.entries()) {
      live.take([event]);
      live.settle();
      follow(revision);
      revision = live.revision();
      if (index % 50 === 0) pages.push({ revision, texts: new Map(texts) });
    }
    while (!live.settle());
    follow(revision);
    const { take, settle, changes } = pageReader(startOf(events));
    take(events);
    settle();
    const whole = new Map(changes.since(0, Number.POSITIVE_INFINITY).changes);
    // A mark stands where the curve ended when its edit was made; the page puts all of them where they belong.
    const placed = (all: Map<string, string>) =>
      [...all].map(([key, value]) => `${key} ${value.replace(/style="left:[\d.]+%"/, "")}`).sort();
    expect(whole.size).toBeGreaterThan(300);
    expect(placed(texts)).toEqual(placed(whole));
    const worthsIn = (html: string) => html.match(/<span id="worth-\d+">.*?<\/span>/g);
    expect(worthsIn(live.html())).toHaveLength(4);
    expect(worthsIn(live.html())).toEqual(worthsIn(reportHtml(events, JSON.stringify)));
    for (const page of pages) {
      for (const [key, value] of changesIn(messagesSince(live.message, page.revision)))
        page.texts.set(key, value);
      expect(placed(page.texts)).toEqual(placed(texts));
    }
  });
});

test("an update is small, however long the session and its texts are", () => {
  const evil = `"<&'\u0001😀`.repeat(20_000);
  const events = longLog(1500);
  const live = liveReport(startOf(events), "1");
  live.take(events);
  while (!live.settle());
  let revision = live.revision();
  const log = memoryLog([]);
  const more: EventBody[] = [
    { type: "warning", text: evil },
    { type: "model_failed", kind: "server", message: evil, attempt: 0 },
    { ...user(evil) },
    { type: "model_request", bodyHash: "", tokensEstimated: 9, cacheAfter: [] },
    reply(
      { type: "text", text: evil },
      call("a", "bash", { command: evil }),
      ...Array.from({ length: 30 }, (_, n) => call(`b${n}`, "bash", { command: evil })),
    ),
    { ...result("a"), content: evil } as EventBody,
    {
      type: "context_edited",
      policy: evil,
      reason: evil,
      economics: { [evil]: evil },
      edits: [{ type: "replace", seq: 20, block: 0, text: evil }],
    },
    { type: "turn_ended", reason: "error", detail: evil },
  ];
  const sizes: number[] = [];
  for (const [index, body] of more.entries()) {
    const { seq: _, ...event } = log.append(body);
    live.take([{ seq: events.length + index, ...event } as LogEvent]);
    live.settle();
    for (const { text, to } of messagesSince(live.message, revision)) {
      sizes.push(Buffer.byteLength(text));
      revision = to;
    }
  }
  expect(sizes.length).toBeGreaterThan(8);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(mostBytes);
});

test("sub-agents stand below their session as they work, and the tree adds up to the bill", () => {
  const usage = {
    inputTokens: 1000,
    cacheReadTokens: 0,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 100,
  };
  const log = memoryLog([...longLog(12)].map(({ seq: _, at: __, ...body }) => body as EventBody));
  const live = liveReport(startOf(log.events()), "1");
  live.take(log.events());
  live.settle();
  expect(live.html()).toContain('<section data-for="delegates" hidden>');
  const revision = live.revision();
  const begun = log.events().length;
  const asked = call("d", "delegate", { brief: "Look <here>" });
  const economics = { calls: 1, apartUsd: 0.1, inPlaceUsd: 0.25 };
  log.append(reply(asked));
  for (const delegate of ["one", "two"])
    log.append({
      type: "delegate_started",
      delegate,
      folder: `/s/${delegate}`,
      toolUseId: "d",
      writes: false,
    });
  log.append({ type: "delegate_called", delegate: "one", usage, model: "anthropic/test", durationMs: 1 });
  log.append({ type: "delegate_ended", delegate: "one", reason: "completed", economics });
  live.take(log.events().slice(begun));
  live.settle();
  const rows = changesIn(messagesSince(live.message, revision)).filter(([key]) =>
    key.startsWith("delegates/"),
  );
  expect(rows.map(([key]) => key)).toEqual(["delegates/0", "delegates/1", "delegates/2"]);
  expect(rows[1]?.[1]).toMatch(/↳ Look &lt;here&gt;.*\$0\.2500.*reported.*\/s\/one/);
  expect(rows[2]?.[1]).toMatch(/not ended.*\/s\/two/);
  const dollars = rows.map(([, row]) => Number(/\$(\d+\.\d+)/.exec(row)?.[1]));
  const { total } = sessionReport(log.events()).cost;
  expect(dollars.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(total, 3);
  expect(live.html()).toContain('<section data-for="delegates">');
});
