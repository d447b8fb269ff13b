/** Overhead per step: from the end of a reply to the arrival of the next request, over 200 steps. */

import { figure, type Row } from "./figures.ts";
import { type Call, startLoopback } from "./loopback.ts";
import { agent, bareClient, inHome, inTurn, runNode } from "./programs.ts";

const steps = 200;
const rounds = 5;
/** Steps that are compared at both ends. The very first is left out: it loads what a first call needs. */
const ends = 20;

/** With a call that costs next to nothing. */
export function todoSteps(): Promise<Row[]> {
  return overhead("todo", (index) => ({
    name: "todo",
    input: { items: [{ text: `step ${index}`, status: "active" }] },
  }));
}

/** With a call that goes to the shell and back. */
export function bashSteps(): Promise<Row[]> {
  return overhead("bash", (index) => ({ name: "bash", input: { command: `: ${index}` } }));
}

async function overhead(tool: string, callAt: (index: number) => Call): Promise<Row[]> {
  const flags = [
    "--model",
    "anthropic/claude-sonnet-5-5",
    "--permission-mode",
    "auto",
    "--max-turns",
    "1000",
  ];
  const { ours, bare } = await inTurn(rounds, {
    bare: () => waits(bareClient, callAt),
    ours: () => waits([...agent, "-p", "hi", ...flags], callAt),
  });
  const first = figure(ours.flatMap((all) => all.slice(1, ends + 1)));
  const last = figure(ours.flatMap((all) => all.slice(-ends)));
  const bareFirst = figure(bare.flatMap((all) => all.slice(1, ends + 1)));
  const bareLast = figure(bare.flatMap((all) => all.slice(-ends)));
  // Sending a longer history costs the bare client more as well.
  const growth = last.median - first.median - (bareLast.median - bareFirst.median);
  return [
    {
      name: `step with ${tool}, last ${ends} of ${steps}`,
      unit: "ms",
      measured: last,
      baseline: bareLast,
      against: "bare client",
      aim: { text: "≤ 5 ms", met: last.median <= 5 },
    },
    {
      name: `  the same beside the first ${ends}`,
      unit: "ms",
      measured: last,
      baseline: first,
      against: `first ${ends}`,
      // Flat: what a step costs more at the end, sending aside, is within a step's noise or half a millisecond.
      aim: { text: "flat", met: growth <= Math.max(0.5, first.noise * first.median) },
    },
  ];
}

/** Milliseconds between each reply and the request after it, in one run. */
async function waits(words: readonly string[], callAt: (index: number) => Call): Promise<number[]> {
  const server = await startLoopback((index) => (index < steps ? callAt(index) : undefined));
  await inHome((home) => runNode(words, home), server.url);
  await server.close();
  return server.arrived.slice(1).map((arrived, index) => arrived - (server.ended[index] ?? Number.NaN));
}
