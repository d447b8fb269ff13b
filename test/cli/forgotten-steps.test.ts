/** Steps that became lines, through the whole program: each place says so in words, and the model gets them back. */

import { expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { jsonLines, sawtooth, writeSettings } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";

const model = ["--model", "anthropic/claude-sonnet-4-6", "--permission-mode", "auto"];
const json = ["--output-format", "stream-json"];
const lineOf = (step: number) => `${step} is what a test of this number found`;
const steps: ScriptedReply[] = Array.from({ length: 24 }, (_, step) => ({
  thinking: `so ${step}`,
  calls: [bash(`for n in $(seq 300); do echo "$n ${lineOf(step)}"; done`)],
}));

test("an edit tells what leaves, why and at what price, and a line leads back to the whole output", async () => {
  const { workspace, server } = await serve((body, index): ScriptedReply => {
    if (index < 24) return steps[index] ?? {};
    const lines = JSON.stringify(body.messages);
    const [, folder = "", file = ""] =
      /of (\/\S+)\/events\.jsonl\].*?exit 0 · (artifacts\/\d+\.txt)/.exec(lines) ?? [];
    if (index === 25) return { calls: [bash(`tail -n 1 ${folder}/${file}`)] };
    return { text: "done" };
  });
  writeSettings(workspace, { engine: { quietSteps: 0, minFlush: 500, maskKeep: 3 } });
  const first = await sawtooth(workspace, ["-p", "go", ...model, ...json]);
  const told = jsonLines(first.stdout).filter(({ type }) => type === "context");
  const said = told.map(({ text }) => String(text)).find((text) => text.includes("down to a line")) ?? "";
  expect(said).toMatch(
    /^[\d.]+k tokens leave the context: (?:\d+ results?, )?\d+ steps down to a line for each call; carrying them costs more than rewriting what follows; .*tokens are written again, \$0\.\d+ saved/,
  );

  const again = await sawtooth(workspace, ["-p", "what was it?", "-c", ...model, ...json]);
  expect([first.code, again.code]).toEqual([0, 0]);
  const results = JSON.stringify(jsonLines(again.stdout).filter(({ type }) => type === "user"));
  expect(results).toContain(`300 ${lineOf(1)}`);

  const unwrapped = (text: string) => text.replaceAll(/\s+/g, " ");
  const report = await sawtooth(workspace, ["report", "--verbose"]);
  expect(unwrapped(report.stdout)).toContain(said);
  expect(report.stdout).toMatch(/\d+ earlier steps in short +kept/);
  expect(report.stdout).not.toContain("break-even");
  const exported = await sawtooth(workspace, ["sessions", "export"]);
  expect(exported.stdout).toContain(`Context: ${said}.`);
  expect(server.exchanges.filter(({ status }) => status !== 200)).toEqual([]);
});
