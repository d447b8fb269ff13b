/** `npm run bench [-- <row> …]`: speed and memory, each beside a baseline measured in turn with it. */

import { availableParallelism } from "node:os";
import { editorRequest } from "./acp.ts";
import { batchMemory, batchSummary } from "./batch.ts";
import { edits } from "./editor.ts";
import { engineSteps } from "./engine.ts";
import { type Row, table } from "./figures.ts";
import { livePage } from "./live-page.ts";
import { longSession } from "./long.ts";
import { callByCommand, requestWithServers } from "./mcp.ts";
import { connections, namesServed } from "./network.ts";
import { pageOfMegabytes } from "./page.ts";
import { redaction } from "./redaction.ts";
import { replaySteps } from "./replay.ts";
import { endReport } from "./report.ts";
import { firstCommand, firstCommandSeen, insideRoundTrip } from "./sandbox.ts";
import { flooded, roundTrip } from "./shell.ts";
import { firstRequest, memory, memoryOfSteps, version } from "./start.ts";
import { bashSteps, todoSteps } from "./steps.ts";
import { tuiBytes, tuiEcho, tuiReady } from "./tui.ts";

const benches: Record<string, () => Promise<Row[]>> = {
  version,
  request: firstRequest,
  acp: editorRequest,
  "steps-todo": todoSteps,
  "steps-bash": bashSteps,
  shell: roundTrip,
  flood: flooded,
  memory,
  "memory-steps": memoryOfSteps,
  "batch-memory": batchMemory,
  "batch-summary": batchSummary,
  edits,
  engine: engineSteps,
  report: endReport,
  replay: replaySteps,
  redaction,
  "sandbox-first": firstCommand,
  "sandbox-seen": firstCommandSeen,
  "sandbox-trip": insideRoundTrip,
  "network-start": namesServed,
  "network-request": connections,
  "mcp-request": requestWithServers,
  "mcp-command": callByCommand,
  "fetch-page": pageOfMegabytes,
  "live-page": livePage,
  "tui-ready": tuiReady,
  "tui-echo": tuiEcho,
  "tui-bytes": tuiBytes,
  "tui-long": longSession,
};

const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !(name in benches));
if (unknown !== undefined) {
  process.stderr.write(`bench: there is no row ${unknown}: choose of ${Object.keys(benches).join(", ")}\n`);
  process.exitCode = 2;
} else {
  await run(chosen.length > 0 ? chosen : Object.keys(benches));
}

async function run(names: readonly string[]): Promise<void> {
  const rows: Row[] = [];
  for (const name of names) {
    process.stderr.write(`measuring ${name} …\n`);
    rows.push(...((await benches[name]?.()) ?? []));
  }
  const machine = `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores`;
  process.stdout.write(`\n${table(rows)}\n\n${machine}. Medians; ± is half the middle half.\n`);
}
