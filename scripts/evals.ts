/**
 * `npm run evals`: what must outlive forgetting, under each policy stack and on both kinds of history. Options: --model
 * <provider/id> asks a real model, --context <a,b> takes only these stacks, --eval <a,b> only these evals, --break
 * <what> breaks the engine first.
 */

import { parseArgs } from "node:util";
import { contextNames } from "../src/context/policies/stacks.ts";
import { evaluations } from "../src/lab/evals/evals.ts";
import { faultNames } from "../src/lab/evals/faults.ts";
import { type EvalResult, evalTable } from "../src/lab/evals/table.ts";
import { type EvalOptions, runEval } from "../test/support/evals.ts";

const scripted = ["anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-5-5"];
/** Runs at a time: they wait for shells and servers more than they compute. */
const atOnce = 8;

const keys = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
];

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      model: { type: "string" },
      context: { type: "string" },
      eval: { type: "string" },
      break: { type: "string" },
    },
  });
  const broken = values.break;
  if (broken !== undefined && !faultNames.includes(broken))
    throw new Error(`--break ${broken}: must be one of ${faultNames.join(", ")}`);
  const { model } = values;
  const live = model === undefined ? undefined : liveKeys(model);
  // A real model is asked under the default stack, unless others are named: each run costs money.
  const stacks =
    values.context?.split(",") ?? (model === undefined ? contextNames : contextNames.slice(0, 1));
  const named = values.eval?.split(",");
  const chosen = evaluations.filter(({ name }) => named?.includes(name) ?? true);
  const jobs = stacks.flatMap((stack) =>
    chosen.flatMap((evaluation) =>
      (model === undefined ? scripted : [model]).map((id) => ({
        ...{ evaluation, stack, model: id, broken },
        ...(live ? { live } : {}),
      })),
    ),
  );
  const results = await inParallel(jobs);
  process.stdout.write(evalTable(results));
  const [standard] = stacks.includes(contextNames[0] ?? "") ? contextNames : stacks;
  return results.some(({ stack, lost }) => stack === standard && lost.length > 0) ? 1 : 0;
}

function liveKeys(model: string): Record<string, string | undefined> {
  const [provider = ""] = model.split("/");
  const needed = {
    anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    openai: ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
  }[provider];
  if (!needed) throw new Error(`--model ${model}: must be anthropic/<id> or openai/<id>`);
  if (!needed.some((name) => process.env[name]))
    throw new Error(`--model ${model} asks the real model: set ${needed.join(" or ")}, or leave --model out`);
  return Object.fromEntries(keys.map((name) => [name, process.env[name]]));
}

async function inParallel(jobs: readonly EvalOptions[]): Promise<EvalResult[]> {
  const results: EvalResult[] = [];
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < jobs.length; at = next++) {
      const job = jobs[at];
      if (job) results[at] = await runEval(job);
      done += 1;
      process.stderr.write(`\r${done}/${jobs.length} `);
    }
  };
  await Promise.all(Array.from({ length: jobs[0]?.live ? 1 : atOnce }, work));
  process.stderr.write("\n");
  return results;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`evals: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 2;
}
