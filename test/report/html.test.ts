import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { requestOfStep } from "../../src/context/request/compose.ts";
import { requestOfSummary } from "../../src/context/request/summary-call.ts";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import { noUsage } from "../../src/core/model-card.ts";
import { allOf } from "../../src/core/questions.ts";
import { encodeAnthropic } from "../../src/models/anthropic/encoding.ts";
import { reportHtml } from "../../src/report/page/html.ts";
import { packBodies } from "../../src/report/page/request-pieces.ts";
import { call, memoryLog, reply, result, started, testCard, user } from "../support/logs.ts";
import { longLog, sessionLog } from "../support/report-log.ts";
import { sized } from "../support/size.ts";

type Packed = ReturnType<typeof packBodies>;
type Data = { steps: string[]; edits: string[]; requests: Packed; summaries: Packed };

/** The data that the page's own script works with. */
function dataOf(page: string): Data {
  const json = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1];
  return JSON.parse(json ?? "null") as Data;
}

/** The function of the page that puts a request together, run on the page's data. */
function bodyReader(page: string): (step: number) => string {
  const source = /function bodyOf\(step, packed = data.requests\) \{.*?\n\}/s.exec(page)?.[0] ?? "";
  return new Function("data", `${source}; return bodyOf;`)(dataOf(page)) as (step: number) => string;
}

describe.each(["free", "prefix_bound"] as const)("the page of a session on a %s history", (history) => {
  let events: readonly LogEvent[] = [];
  let page = "";
  beforeAll(async () => {
    events = await sessionLog(history);
    page = reportHtml(events, encodeAnthropic);
  });

  test("gives every step's request back, byte for byte", () => {
    const bodyOf = bodyReader(page);
    const steps = allOf(events, "model_request").length;
    expect(steps).toBeGreaterThan(50);
    for (let step = 1; step <= steps; step++) {
      const composed = requestOfStep(events, step);
      expect(bodyOf(step)).toBe(composed ? encodeAnthropic(composed.request) : "");
    }
  });

  test("has a mark with its reason for every edit, and a text for every step", () => {
    const { steps, edits } = dataOf(page);
    expect(page.match(/data-edit="\d+"/g)).toHaveLength(4);
    const flush =
      /^Before step (\d+), economist: \S+ tokens leave the context: .*; (?:carrying them costs|the context is).*meter [\d,]+, threshold/;
    const [, step = ""] = flush.exec(edits[1] ?? "") ?? [];
    expect(["33", "34"]).toContain(step);
    expect(steps).toHaveLength(62);
    expect(steps[Number(step) - 1]).toContain("cache miss: edit");
    expect(page).toContain('<path class="read"');
  });

  test("needs nothing from outside, and its policy lets only its own script run", () => {
    expect(page).not.toMatch(/\b(src|href)=|https?:|@import|url\(/);
    const script = /<script>(.*)<\/script><\/body>/s.exec(page)?.[1] ?? "";
    const hash = createHash("sha256").update(script).digest("base64");
    expect(page).toContain(`default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`);
  });

  test("takes about as much room as the log, not as all requests together", () => {
    const log = events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
    expect(page.length).toBeLessThan(1.2 * log + 120_000);
  });
});

test("a summary call opens to its exact request, of whichever model was asked", () => {
  const evil = "</script><b>";
  const side = {
    type: "summary_call",
    purpose: "summary",
    usage: noUsage,
    durationMs: 1,
    outcome: "accepted",
  } as const;
  const price = { ownUsd: 0.03, otherUsd: 0.004 };
  const log = memoryLog([started(), user("go"), reply(call("a")), result("a")]);
  log.append({ ...side, model: "anthropic/test", question: `Sum up. ${evil}`, price });
  log.append({
    ...side,
    model: "anthropic/other",
    question: "Again.",
    card: testCard("free", { id: "anthropic/other" }),
  });
  log.append({ ...side, model: "anthropic/test", detail: evil });
  const page = reportHtml(log.events(), encodeAnthropic);
  const { summaries } = dataOf(page);
  const source = /function bodyOf\(step, packed = data.requests\) \{.*?\n\}/s.exec(page)?.[0] ?? "";
  const bodyOf = new Function("data", `${source}; return bodyOf;`)(dataOf(page)) as (
    n: number,
    p: object,
  ) => string;
  for (const number of [1, 2]) {
    const request = requestOfSummary(log.events(), number);
    expect(bodyOf(number, summaries)).toBe(request && encodeAnthropic(request));
  }
  expect(bodyOf(1, summaries)).toContain("Sum up.");
  expect(JSON.parse(bodyOf(2, summaries)).model).toBe("other");
  expect(bodyOf(3, summaries)).toBe("");
  expect(page).toContain("expected $0.0300 on the own model, $0.0040 on the cheapest other");
  expect(page).not.toContain(evil);
});

test("it grows with the log, not with its square", () => {
  const sizeOf = (count: number) => reportHtml(longLog(count), encodeAnthropic).length - 30_000;
  expect(sizeOf(sized(400, 800)) / sizeOf(sized(100, 200))).toBeLessThan(6);
});

test("text from models, tools and users stays text", () => {
  const evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&<!--";
  const log = memoryLog([{ ...started(), cwd: evil, context: evil } as EventBody, user(evil)]);
  log.append({ type: "model_request", bodyHash: "", tokensEstimated: 9, cacheAfter: [] });
  log.append(reply({ type: "text", text: evil }, call("a", evil, { command: evil })));
  log.append({ ...result("a"), content: evil } as EventBody);
  log.append({
    type: "context_edited",
    policy: evil,
    reason: evil,
    economics: { [evil]: evil },
    edits: [{ type: "replace", seq: 4, block: 0, text: evil }],
  });
  log.append({ type: "model_request", bodyHash: "", tokensEstimated: 9, cacheAfter: [] });
  log.append({ type: "warning", text: evil });
  const page = reportHtml(log.events(), JSON.stringify);
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script/g)).toHaveLength(2);
  expect(page).not.toContain("<img");
  expect(bodyReader(page)(2)).toBe(JSON.stringify(requestOfStep(log.events(), 2)?.request));
});

test("a session without steps has a page all the same", () => {
  expect(reportHtml(memoryLog([started()]).events(), JSON.stringify)).toContain("There were none.");
});

describe("packed bodies", () => {
  const unpack = ({ pieces, bodies }: ReturnType<typeof packBodies>) => {
    let indexes: number[] = [];
    return bodies.map(({ keep, then }) => {
      indexes = [...indexes.slice(0, keep), ...then];
      return indexes.map((index) => pieces[index]).join("");
    });
  };

  test("come back as they were, whatever they are", () => {
    const bodies = [
      "",
      "{}",
      '{"a":[{"type":"text"}]}',
      '{"a":[{"type":"text","x":"}},{\\"type\\":"}]}',
      "no json",
      "no json at all",
    ];
    expect(unpack(packBodies(bodies))).toEqual(bodies);
  });

  test("hold a block once, though its cache marker moves on", () => {
    const text = (word: string, mark = "") => `{"type":"text","text":"${word.repeat(500)}"${mark}}`;
    const mark = ',"cache_control":{"type":"ephemeral"}';
    const body = (...blocks: string[]) =>
      `{"messages":[${blocks.map((block) => `{"role":"user","content":[${block}]}`).join(",")}]}`;
    const bodies = [
      body(text("a", mark)),
      body(text("a"), text("b", mark)),
      body(text("x"), text("b"), text("c", mark)),
      body(text("a"), text("b")),
    ];
    const packed = packBodies(bodies);
    expect(unpack(packed)).toEqual(bodies);
    for (const word of "abcx")
      expect(packed.pieces.filter((piece) => piece.includes(word.repeat(500)))).toHaveLength(1);
  });
});
