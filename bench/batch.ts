/** Memory of the process that runs a batch, and the time to add up its results; tasks are done by a tiny program. */

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure, type Row } from "./figures.ts";
import { agentFolder, type Home, inHome, inTurn, runNode } from "./programs.ts";

const few = 100;
const many = 1000;

/** Says what an agent says of a task of twenty calls, at once. */
const tinyProgram = `
const usage = { input_tokens: 1, output_tokens: 1 };
const call = JSON.stringify({ type: "assistant", message: { content: "x".repeat(2000) } });
for (let index = 0; index < 20; index++) process.stdout.write(call + "\\n");
process.stdout.write(JSON.stringify({
  type: "result", subtype: "success", is_error: false, result: "r".repeat(6000), session_id: "s", num_turns: 20,
  total_cost_usd: 0.01, usage, modelUsage: { "a/b": usage }, errors: [], terminal_reason: "done",
  structured_output: null,
}) + "\\n");
`;

/** The most memory that the process holds over a thousand tasks, beside a hundred. */
export async function batchMemory(): Promise<Row[]> {
  const peak = (tasks: number) => async (): Promise<number> =>
    inHome(async (home) => (await runNode(batchOf(tasks, home), home, true)).peakMb);
  const measured = figure([await peak(many)()]);
  const baseline = figure([await peak(few)(), await peak(few)()]);
  const aim = { text: "≤ 1.1 ×", met: measured.median <= 1.1 * baseline.median };
  const name = `peak memory of a batch of ${many.toLocaleString("en-US")} tasks`;
  return [{ name, unit: "MB", measured, baseline, against: `of ${few}`, aim }];
}

/** `batch --summary` of a thousand results, from start to exit. */
export async function batchSummary(): Promise<Row[]> {
  const { ours, bare } = await inHome((home) => {
    const folder = resultsOf(many, home);
    return inTurn(7, {
      bare: () => runNode(["-e", "0"], home),
      ours: () => runNode([join(agentFolder, "dist/main.js"), "batch", "--summary", folder], home),
    });
  });
  const [measured, baseline] = [figure(ours.map((run) => run.ms)), figure(bare.map((run) => run.ms))];
  const aim = { text: "≤ 1,000 ms", met: measured.median <= 1000 };
  return [{ name: `summary of ${many} results`, unit: "ms", measured, baseline, against: "node -e 0", aim }];
}

/** Copies the built program, with the tiny one in the place of the launcher. Returns the path of what runs batches. */
export function batchProgram({ folder }: Home): string {
  const own = join(folder, "agent");
  for (const name of ["dist", "prompts", "package.json"])
    cpSync(join(agentFolder, name), join(own, name), { recursive: true });
  mkdirSync(join(own, "bin"));
  writeFileSync(join(own, "bin/sawtooth.js"), tinyProgram);
  return join(own, "dist/main.js");
}

/** The words that start a batch whose tasks are done by the tiny program. */
function batchOf(tasks: number, home: Home): string[] {
  const { folder } = home;
  const lines = Array.from({ length: tasks }, (_, index) => ({ id: `t${index}`, prompt: `Do ${index}.` }));
  const file = join(folder, "tasks.jsonl");
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return [batchProgram(home), "batch", file, "--out", join(folder, "out"), "--jobs", "2"];
}

/** A folder with this many results, as a batch leaves it. `first`: number of the first task. */
export function resultsOf(tasks: number, { folder }: Home, name = "out", first = 0): string {
  const out = join(folder, name);
  mkdirSync(out);
  writeFileSync(join(out, "batch.json"), JSON.stringify({ version: 1, options: {} }));
  const lines = Array.from({ length: tasks }, (_, index) => ({
    id: `t${first + index}`,
    hash: "0".repeat(64),
    state: "done",
    errors: [],
    result: "r".repeat(4000),
    run: `tasks/t${first + index}/run-1`,
    changed_files: ["a.txt"],
    num_turns: 20,
    total_cost_usd: 0.01,
    started_at: index,
    duration_ms: 1000,
  }));
  writeFileSync(join(out, "results.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return out;
}
