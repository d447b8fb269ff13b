/**
 * A recording that is cut, doubled or shuffled anywhere is replayed with valid requests, or refused in one sentence.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { jobRunner } from "../../src/lab/replay/run.ts";
import { SessionError } from "../../src/session/errors.ts";
import { claudeCode, codex, miniSweAgent, pi, sweAgent } from "../lab/recordings/recordings.ts";

type Parts = { parts: string[]; join(parts: string[]): string };

const inLines = (text: string): Parts => ({
  parts: text.trim().split("\n"),
  join: (parts) => parts.join("\n"),
});

function inList(text: string, key: string): Parts {
  const value = JSON.parse(text) as Record<string, unknown[]>;
  return {
    parts: (value[key] ?? []).map((each) => JSON.stringify(each)),
    join: (parts) => JSON.stringify({ ...value, [key]: parts.map((each) => JSON.parse(each) as unknown) }),
  };
}

/** Without a beginning, an end or a piece; with a piece twice; with two pieces in each other's place. */
function broken({ parts, join }: Parts): string[] {
  const indexes = parts.map((_, index) => index);
  return [
    ...indexes.map((index) => parts.slice(index)),
    ...indexes.map((index) => parts.slice(0, index)),
    ...indexes.map((index) => parts.toSpliced(index, 1)),
    ...indexes.map((index) => parts.toSpliced(index, 0, parts[index] ?? "")),
    ...indexes.map((index) => [...parts.slice(0, index), ...parts.slice(index).reverse()]),
  ].map(join);
}

test.each([
  ["Claude Code", inLines(claudeCode())],
  ["pi", inLines(pi())],
  ["Codex", inLines(codex())],
  ["SWE-agent", inList(sweAgent(), "history")],
  ["mini-swe-agent", inList(miniSweAgent(), "messages")],
])("a broken recording of %s makes no invalid request", (_name, whole) => {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-broken-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const texts = broken(whole);
  let replayed = 0;
  for (const [index, text] of texts.entries()) {
    const file = join(folder, `${index}.jsonl`);
    writeFileSync(file, text);
    const job = { file, prices: ["anthropic/claude-sonnet-5-5"], gaps: "recorded" as const };
    for (const context of ["raw", "masking"]) {
      try {
        const { rows } = jobRunner()({ ...job, context });
        expect(
          rows.flatMap((row) => row.broken),
          text,
        ).toEqual([]);
        replayed += 1;
      } catch (error) {
        if (!(error instanceof SessionError)) throw error;
        expect(error.message).not.toContain("\n");
      }
    }
  }
  expect(replayed).toBeGreaterThan(texts.length);
});
