/**
 * One 200-step session under each policy stack and price card: what it would cost, what it misses, and whether it stays
 * legal. With `--lengths`: the default against `raw` in sessions of 20 to 400 steps. The script quotes what it read as often
 * as recordings do, and quotes it whether or not it is still there; recorded sessions are in docs/evidence.md.
 */

import { runTurn } from "../src/agent/loop.ts";
import { contextSizes } from "../src/context/report/curve.ts";
import { brokenRules } from "../src/context/rules/request.ts";
import type { ModelCard } from "../src/core/model-card.ts";
import { inputTotal } from "../src/core/model-card.ts";
import { allOf, spending } from "../src/core/questions.ts";
import { missesIn } from "../src/lab/replay/missing.ts";
import { findCard } from "../src/models/cards.ts";
import type { ScriptedReply } from "../src/models/playback/script.ts";
import { completeFocusTool, startFocusTool } from "../src/tools/session/focus.ts";
import { testAgent } from "../test/support/agents.ts";
import { atInputPrice, workStep, workTool } from "../test/support/scripted-work.ts";

const usualSteps = 200;
const lengths = [20, 40, 60, 80, 100, 150, 200, 300, 400];
const phase = 12;

/** The same work wrapped in focuses of `phase` steps. */
function focused(steps: number): ScriptedReply[] {
  const turns: ScriptedReply[] = [];
  for (let step = 0; step < steps; step++) {
    if (step % phase === 0) turns.push({ calls: [{ start_focus: { objective: `phase ${step / phase}` } }] });
    turns.push(workStep(step));
    if (step % phase === phase - 1) {
      const learned = `module_${step % 40}.ts line ${step} is involved; `.repeat(8);
      turns.push({
        calls: [{ complete_focus: { attempted: "greps and reads", learned, outcome: "next phase" } }],
      });
    }
  }
  return [...turns, { text: "done" }];
}

function plain(steps: number): ScriptedReply[] {
  return [...Array.from({ length: steps }, (_, step) => workStep(step)), { text: "done" }];
}

type Row = {
  stack: string;
  peak: number;
  billed: number;
  /** The billed tokens at their prices, as tokens at the input price. */
  atInputPrice: number;
  cost: number;
  /** With one more step for each thing that a reply quotes and no longer had. */
  costWithRereads: number;
  /** Misses in 100 steps. */
  misses: number;
  hit: number;
  edits: number;
  broken: number;
};

/** Runs the session under a stack. */
async function runStack(card: ModelCard, context: string, withFocus: boolean, steps: number): Promise<Row> {
  const turns = withFocus ? focused(steps) : plain(steps);
  const session = testAgent({ turns, tools: [workTool(steps)], context, realCard: card });
  const { agent, requests, log } = session;
  const file = `${agent.artifacts.folder}/knowledge.md`;
  agent.tools.push(startFocusTool({ description: "" }), completeFocusTool({ description: "", file }));
  const end = await runTurn(agent, new AbortController().signal);
  if (end !== "completed") throw new Error(`${context} ended with ${end}`);
  const spent = spending(log.events());
  const { misses, rereadCost } = missesIn(log.events(), card);
  return {
    stack: context,
    peak: Math.max(...contextSizes(log.events())),
    billed: inputTotal(spent.usage),
    atInputPrice: atInputPrice(log.events(), card.prices),
    cost: spent.cost,
    costWithRereads: spent.cost + rereadCost,
    misses: (100 * misses) / spent.replies,
    hit: spent.usage.cacheReadTokens / inputTotal(spent.usage),
    edits: allOf(log.events(), "context_edited").length,
    broken: requests.flatMap((request) => brokenRules(request)).length,
  };
}

const cardIds = [
  "claude-fable-5-2",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-sonnet-5",
  "claude-sonnet-4-6",
];
const stacks: [string, boolean][] = [
  ["raw", false],
  ["masking", false],
  ["hybrid", false],
  ["turns", false],
  ["economist", false],
  ["focus", true],
  ["focus-top", true],
  ["economist", true],
];

const words = process.argv.slice(2);
const named = words.filter((word) => word !== "--lengths");
const show = words.includes("--lengths") ? showLengths : showStacks;
for (const id of named.length > 0 ? named : cardIds) await show(findCard(`anthropic/${id}`).card);

async function showStacks(card: ModelCard): Promise<void> {
  process.stdout.write(`\n${card.id} (${card.contract.history})\n`);
  for (const [stack, withFocus] of stacks) {
    const row = await runStack(card, stack, withFocus, usualSteps);
    const name = `${stack}${withFocus ? " + model's focus" : ""}`.padEnd(28);
    const numbers = [
      `peak ${Math.round(row.peak / 1000)}k`.padStart(11),
      `billed ${(row.billed / 1e6).toFixed(1)}M`.padStart(14),
      ` as ${(row.atInputPrice / 1e6).toFixed(2)}M at the input price`.padStart(29),
      `hit ${(100 * row.hit).toFixed(0)} %`.padStart(10),
      `$${row.cost.toFixed(3)}`.padStart(9),
      `$${row.costWithRereads.toFixed(3)} with re-reads`.padStart(22),
      `${row.misses.toFixed(1)} misses/100`.padStart(16),
      `${row.edits} edits`.padStart(11),
      `${row.broken} broken`.padStart(10),
    ];
    process.stdout.write(`  ${name}${numbers.join("")}\n`);
  }
}

async function showLengths(card: ModelCard): Promise<void> {
  process.stdout.write(`\n${card.id} (${card.contract.history})\n`);
  for (const steps of lengths) {
    const raw = await runStack(card, "raw", false, steps);
    const row = await runStack(card, "economist", false, steps);
    const change = (cost: number) => `${(100 * (cost / raw.cost - 1)).toFixed(1)} %`.padStart(8);
    const costs = `raw $${raw.cost.toFixed(3)}  economist $${row.cost.toFixed(3)}  ${change(row.cost)}`;
    const missed = `with re-reads ${change(row.costWithRereads)}  ${row.misses.toFixed(1)} misses/100`;
    process.stdout.write(`  ${String(steps).padStart(4)} steps  ${costs}  ${missed}  ${row.edits} edits\n`);
  }
}
