import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { importRecording } from "../../src/lab/recordings/import.ts";
import { recordingsIn, replayFiles } from "../../src/lab/replay/jobs.ts";
import { defaultStacks } from "../../src/lab/replay/stack.ts";
import { figuresOf, optimumName } from "../../src/lab/replay/table.ts";
import { checkUsage } from "../../src/lab/replay/usage-check.ts";
import { sized } from "../support/size.ts";

const folder = fileURLToPath(new URL("../../../shared/trajectories", import.meta.url));
const there = existsSync(folder);
const prices = [".05/1.25", "anthropic/claude-sonnet-5-5"];
const replaying = { gaps: "recorded", jobs: 2 } as const;
const files = there ? recordingsIn([folder]) : [];

describe.skipIf(!there)("real recordings (skipped where ../shared/trajectories is not there)", () => {
  test("are understood line by line", () => {
    const recordings = files.map(importRecording);
    expect(recordings.flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(new Set(recordings.map(({ format }) => format))).toEqual(
      new Set(["claude-code", "mini-swe-agent", "pi", "swe-agent"]),
    );
    const replies = recordings.flatMap(({ events }) =>
      events.filter(({ type }) => type === "assistant_message"),
    );
    expect(replies.length).toBeGreaterThan(2_000);
  });

  test("carry usage that the calibrated estimate meets within 10 %", () => {
    const checks = files.flatMap((file) => checkUsage(importRecording(file).events) ?? []);
    expect(checks.length).toBeGreaterThan(files.length / 2);
    for (const { median, p95, factor } of checks) {
      expect(median).toBeLessThan(0.1);
      expect(p95).toBeLessThan(0.15);
      expect(factor).toBeGreaterThan(0.8);
      expect(factor).toBeLessThan(1.6);
    }
  });

  // `npm run lab` replays all of them under every stack on both histories, and fails on a broken rule.
  test("the smallest stay legal under every stack on both histories", async () => {
    const smallest = files
      .toSorted((a, b) => statSync(a).size - statSync(b).size)
      .slice(0, sized(3, files.length));
    const contexts = defaultStacks;
    const { rows, problems } = await replayFiles({ ...replaying, files: smallest, contexts, prices });
    expect(problems).toEqual([]);
    expect(new Set(rows.map(({ history }) => history))).toEqual(new Set(["free", "prefix_bound"]));
    expect(rows.flatMap(({ broken }) => broken)).toEqual([]);
  });

  test("cost under masking and the economist what was to be expected", { timeout: 300_000 }, async () => {
    const contexts = ["raw", "masking", "masking:maskBatch=20", "economist"];
    const { rows, problems } = await replayFiles({
      ...replaying,
      // In one thread the best masking in hindsight is found once for both schedules of masking.
      jobs: 1,
      files,
      contexts,
      prices: prices.slice(0, 1),
    });
    expect(problems).toEqual([]);
    expect(rows.flatMap(({ broken }) => broken)).toEqual([]);
    const change = (context: string) => {
      const of = figuresOf(rows).filter((one) => one.recording === "all");
      return (of.find((one) => one.context === context)?.inputRatio ?? Number.NaN) - 1;
    };
    // An independent simulation of masking alone found +46 % and, at best, -37 %.
    expect(Math.abs(change("masking") - 0.46)).toBeLessThan(0.15);
    expect(Math.abs(change(optimumName("masking")) + 0.37)).toBeLessThan(0.06);
    expect(change("masking:maskBatch=20")).toBeLessThan(change("masking") - 0.3);
    expect(change("economist")).toBeLessThan(change("masking:maskBatch=20"));
    expect(change("economist")).toBeLessThan(-0.15);
  });
});
