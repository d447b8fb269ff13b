/** A session's own report of what it forgot and asked for again. */

import { expect, test } from "vitest";
import { sessionReport } from "../../../src/context/report/report.ts";
import { forgottenText } from "../../../src/context/reuse/forgotten.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { noUsage } from "../../../src/core/model-card.ts";
import { reportText } from "../../../src/report/text/report.ts";
import { call, memoryLog, reply, result, started, text, user, withPurposes } from "../../support/logs.ts";

const file = Array.from({ length: 40 }, (_, index) => `export const value${index} = compute(${index});`);
const request: EventBody = { type: "model_request", bodyHash: "", tokensEstimated: 1000, cacheAfter: [] };

/** A step: the request, the reply with usage, and what its calls gave. */
function step(...bodies: [EventBody, ...EventBody[]]): EventBody[] {
  const [answer, ...results] = bodies;
  const usage = { ...noUsage, cacheReadTokens: 10_000 };
  return [request, { ...(answer as EventBody & object), usage } as EventBody, ...results];
}

const runs = (id: string, command: string, output: string): EventBody[] =>
  step(reply(call(id, "bash", { command })), result(id, output));

/** Masks the result of the first step, which is event 4. */
const mask: EventBody = {
  ...{ type: "context_edited", policy: "masking", reason: "", economics: {} },
  edits: [{ type: "replace", seq: 4, block: 0, text: "[40 lines omitted]" }],
};

const reported = (...bodies: EventBody[]) =>
  sessionReport(
    memoryLog(
      withPurposes([started(), user("go"), ...runs("a", "cat a.ts", file.join("\n")), ...bodies]),
    ).events(),
  );

test("reading again what an edit took is told with its step, its call and its cost, whatever tool reads it", () => {
  const { forgotten } = reported(mask, ...runs("b", "sed -n 1,20p a.ts", file.slice(0, 20).join("\n")));
  expect(forgotten.rows).toMatchObject([
    { shown: 1, again: 2, by: "read", kind: "read", what: "bash cat a.ts" },
  ]);
  expect(forgotten).toMatchObject({ taken: 1, rate: 50 });
  // 10,000 tokens once more at $0.2 a million, and the result at the price of a write.
  expect(forgotten.dollars).toBeGreaterThan(10_000 * 0.2e-6);
  expect(forgotten.dollars).toBeLessThan(10_000 * 0.2e-6 + 800 * 2.5e-6 + 40 * 10e-6);
  expect(forgottenText(forgotten)).toMatch(
    /^Forgotten: 1 result\. Asked for again 1 time \(50\.0 of 100 steps\): 1 read again for \$0\.00\d\d\.$/,
  );
});

test("a quote without reading again is told once, and costs nothing more", () => {
  const quote = step(reply(text(`It was ${"\n"}${file[3]}`)));
  const { forgotten } = reported(mask, ...quote, ...quote);
  expect(forgotten.rows).toMatchObject([{ shown: 1, again: 2, by: "quote" }]);
  expect(forgotten.dollars).toBe(0);
  expect(forgottenText(forgotten)).toContain("1 quoted without");
});

test.each<[string, EventBody[]]>([
  ["it was not forgotten", runs("b", "cat a.ts", file.join("\n"))],
  [
    "the file was written since",
    [mask, ...runs("w", "sed -i s/1/2/ a.ts", ""), ...runs("b", "cat a.ts", file.join("\n"))],
  ],
  [
    "most of it is new",
    [mask, ...runs("b", "cat b.ts", `${file[0]}\n${file.map((line) => `${line} // other`).join("\n")}`)],
  ],
  ["it is a test that runs again", [mask, ...runs("b", "npm test", file.join("\n"))]],
])("nothing was asked for again where %s", (_, bodies) => {
  expect(reported(...bodies).forgotten.rows).toEqual([]);
});

test("the report as text has a chapter of it, and none where no result was taken", () => {
  const events = (...bodies: EventBody[]) =>
    memoryLog(
      withPurposes([started(), user("go"), ...runs("a", "cat a.ts", file.join("\n")), ...bodies]),
    ).events();
  const again = events(mask, ...runs("b", "cat a.ts", file.join("\n")));
  expect(reportText(again)).not.toContain("read again bash");
  const shown = reportText(again, { verbose: true });
  expect(shown).toContain("Forgotten: 1 result. Asked for again 1 time");
  expect(shown).toMatch(/^ +2 {2}read again bash cat a\.ts +of step 1$/m);
  expect(reportText(events())).not.toContain("Forgotten");
  expect(reportText(events(mask))).toContain("None of it was asked for again.");
});
