import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resultObject } from "../../src/cli/headless/result.ts";
import { sessionReport } from "../../src/context/report/report.ts";
import { requestOfStep } from "../../src/context/request/compose.ts";
import type { EventBody } from "../../src/core/events.ts";
import { reportText, stepBody, summaryText } from "../../src/report/text/report.ts";
import { createSession } from "../../src/session/store.ts";
import { entry } from "../support/entry.ts";
import { call, memoryLog, reply, result, started, user } from "../support/logs.ts";
import { longLog, sessionLog } from "../support/report-log.ts";

const tooWide = (report: string) => report.split("\n").filter((line) => [...line].length > 80);

describe("the report", () => {
  test("fits a terminal: 80 columns, 68 lines, however long the session was", async () => {
    for (const events of [await sessionLog("free"), await sessionLog("prefix_bound"), longLog(2_000)]) {
      const report = reportText(events);
      expect(tooWide(report)).toEqual([]);
      expect(report.trimEnd().split("\n").length).toBeLessThanOrEqual(68);
    }
  });

  test("tells the window, the edits, the cache and the money", async () => {
    const report = reportText(await sessionLog());
    expect(report).toMatch(/Context per step: peak [\d,]+, mean [\d,]+, last [\d,]+ tokens/);
    expect(report).toMatch(/Soft window: 36,000 of 200,000 tokens \(set by the user\)/);
    expect(report).toMatch(/ {2}observations +[\d,]+ +\d+ % {2}█+/);
    expect(report).toMatch(/4 context edits: [\d,]+ tokens removed, worth \+\$0\.\d{4} in hindsight/);
    expect(report).toMatch(/ 54 {2}economist +[\d,]+ +[\d,]+ +\+\$0\.\d{4} +\+\$0\.\d{4} {2}not cached/);
    expect(report).toMatch(
      /Cache: \d+\.\d % of the input was read from it\. Steps that missed: 1 after an edit,/,
    );
    expect(report).toMatch(/cache read +[\d,]+ +\$0\.\d{4} +\d+ %/);
    expect(report).toMatch(/! the file AGENTS\.md changed while the session was open/);
  });

  test("lists every step and the numbers of every edit when asked", async () => {
    const events = await sessionLog();
    const report = reportText(events, { verbose: true });
    expect(tooWide(report)).toEqual([]);
    expect(report.match(/^ +\d+ +[\d,]+ +[-+]?\d+\.\d % +\d+ %/gm)).toHaveLength(62);
    expect(report).toMatch(/meter [\d,]+, threshold [\d,]+, removed tokens/);
    expect(report).toContain("miss: edit");
    expect(report).toContain("1 retry");
  });

  test("lets nothing that a model or a file says steer the terminal", () => {
    const evil = "\u001b[2J\u001b]0;title\u0007x";
    const log = memoryLog([
      started(),
      user(`${evil} ${"y".repeat(400)}`),
      reply(call("a", "bash", { command: evil })),
    ]);
    log.append({ ...result("a"), content: evil } as EventBody);
    log.append({ type: "warning", text: evil });
    log.append({ type: "model_failed", kind: "server", message: evil, attempt: 0 });
    log.append({
      type: "context_edited",
      policy: "x",
      reason: evil,
      edits: [{ type: "drop_thinking", to: 1 }],
      economics: { note: evil },
    });
    const report = reportText(log.events(), { verbose: true }) + summaryText(log.events());
    expect(report).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test("says so when nothing has happened yet", () => {
    const report = reportText(memoryLog([started()]).events());
    expect(report).toContain("No reply was reported yet.");
    expect(report).toContain("No context edits.");
  });
});

test("the exact body of a step is what its request encodes to; other numbers are refused", async () => {
  const events = await sessionLog();
  expect(stepBody(events, "34", JSON.stringify)).toBe(JSON.stringify(requestOfStep(events, 34)?.request));
  expect(() => stepBody(events, "63", JSON.stringify)).toThrow("this session has 62 steps");
});

test("the result object of a headless run carries the same totals", async () => {
  const events = await sessionLog();
  const report = sessionReport(events);
  const { context } = resultObject(events, { durationMs: 1 });
  expect(context).toMatchObject({
    peak_tokens: report.size.peak,
    mean_tokens: report.size.mean,
    last_tokens: report.size.last,
    edits: 4,
    edits_by_policy: { focus: 2, economist: 2 },
    folds: 2,
    removed_tokens: report.edits.reduce((sum, { removed }) => sum + removed, 0),
    deferred_tokens: report.deferredTokens,
    cache_hit_rate: report.cache.hitRate,
    cache_misses: { edit: 1, cold: 1, model: 0, unexpected: 0 },
    soft_window_tokens: 36_000,
  });
});

describe("from the command line", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sawtooth-report-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const sawtooth = (...words: string[]) =>
    spawnSync(process.execPath, [entry, ...words], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, SAWTOOTH_HOME: join(folder, "home"), NODE_NO_WARNINGS: "1" },
    });

  test("a session that is still being written is reported, as text and as a page for its owner alone", async () => {
    const root = join(folder, "sessions");
    const session = await createSession({ root, cwd: folder, clock: Date.now, warn: () => {} });
    try {
      for (const { seq: _, at: __, ...body } of await sessionLog()) {
        const own =
          body.type === "session_started"
            ? { sessionId: session.id, folder: session.folder, cwd: folder }
            : {};
        session.log.append({ ...body, ...own } as EventBody);
      }
      const text = sawtooth("report", "--session-dir", root);
      expect([text.stderr, text.status]).toEqual(["", 0]);
      expect(text.stdout).toContain(`Session ${session.id}: completed`);
      const page = sawtooth("report", session.id, "--session-dir", root, "--html", "report.html");
      expect([page.stderr, page.status]).toEqual(["", 0]);
      expect(page.stdout).toMatch(/^report\.html: \d+ KiB/);
      const file = join(folder, "report.html");
      expect(readFileSync(file, "utf8")).toContain(session.id);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const failed = sawtooth("report", "--session-dir", root, "--html", "no/such/folder.html");
      expect([failed.stderr, failed.status]).toEqual([
        "sawtooth: cannot write no/such/folder.html: its folder does not exist: create it, or name another file\n",
        2,
      ]);
      expect(existsSync(join(folder, "no"))).toBe(false);
    } finally {
      session.close();
    }
  });
});
