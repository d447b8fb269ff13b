/**
 * A very long session on screen: 800 commands with 50 MB of output and 5,000 messages; memory, keys, starting again.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LogEvent } from "../src/core/events.ts";
import { type Drive, driveProgram } from "../test/support/pty-drive.ts";
import { makeWorkspace, type Workspace } from "../test/support/sawtooth.ts";
import { figure, type Row } from "./figures.ts";
import { startLoopback } from "./loopback.ts";
import { agent } from "./programs.ts";
import { arrives, echoTimes, memoryOf, p95, processorShare } from "./terminal.ts";

const calls = 800;
const bytesEach = 62_500;
const messages = 5000;
const size = { columns: 120, rows: 40 };
const flags = ["--model", "anthropic/claude-sonnet-5-5", "--permission-mode", "auto", "--max-turns", "2000"];

/** Runs the 800 commands, then starts the same session again with 5,000 messages in its log. */
export async function longSession(): Promise<Row[]> {
  const command = `head -c ${bytesEach} /dev/zero | tr '\\0' 'x' | fold -w 99; echo`;
  const server = await startLoopback((index) =>
    index < calls ? { name: "bash", input: { command: `${command} ${index}` } } : undefined,
  );
  const workspace = makeWorkspace(server.url);
  const first = await opened(workspace, flags);
  first.send("go\r");
  while (server.arrived.length <= calls) await sleep(50);
  await first.quiet(1000);
  const worked = await memoryRows("800 commands, 50 MB", first);
  await left(first);
  lengthen(workspace);
  const ready = figure(await inTurn(5, () => readyAgain(workspace)));
  const fresh = figure(await inTurn(5, () => readyFresh()));
  const again = await opened(workspace, ["-c", ...flags.slice(0, 4)]);
  await again.quiet(500);
  const keys = await echoTimes(again, 200, "\x1b[?2026l");
  again.send("\x03");
  await sleep(1200);
  const waits = await inTurn(5, () => enterToRequest(again, server.arrived));
  const rows = await memoryRows("5,000 messages, 50 MB", again);
  again.kill();
  await server.close();
  workspace.remove();
  const request = figure(waits);
  const echo = figure([p95(keys)]);
  const row = (
    name: string,
    measured: Row["measured"],
    limit: number,
    baseline = figure([limit]),
    against = "aim",
  ): Row => ({
    name,
    unit: "ms",
    measured,
    baseline,
    against,
    aim: { text: `≤ ${limit} ms`, met: measured.median <= limit },
  });
  return [
    ...worked,
    row("such a session ready again", ready, 700, fresh, "an empty one"),
    row("key to echo in it, p95", echo, 50),
    row("Enter to request in it", request, 200),
    ...rows,
  ];
}

async function opened(workspace: Workspace, words: string[]): Promise<Drive> {
  const terminal = driveProgram(process.execPath, [...agent, ...words], workspace, size);
  await arrives(terminal, "›");
  return terminal;
}

async function left(terminal: Drive): Promise<void> {
  terminal.send("/exit\r");
  await terminal.ended;
}

/** Turns of two messages each, in the form that the log has, until it holds 5,000. */
function lengthen(workspace: Workspace): void {
  const sessions = join(workspace.env.SAWTOOTH_HOME ?? "", "state/sessions");
  const found = readdirSync(sessions, { recursive: true, encoding: "utf8" }).find((name) =>
    name.endsWith("events.jsonl"),
  );
  const file = join(sessions, found ?? "");
  const events = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as LogEvent);
  const of = <T extends LogEvent["type"]>(type: T) => events.findLast((event) => event.type === type);
  const turn = [of("user_message"), of("assistant_message"), of("turn_ended")].filter(
    (event) => event !== undefined,
  );
  const said = events.filter(({ type }) => /^(user|assistant)_message$|^tool_result$/.test(type)).length;
  for (let count = said; count < messages; count += 2) {
    for (const event of turn) events.push({ ...event, seq: events.length });
  }
  writeFileSync(file, `${events.map((event) => JSON.stringify(event)).join("\n")}\n`);
}

async function readyAgain(workspace: Workspace): Promise<number> {
  const startedAt = performance.now();
  const terminal = await opened(workspace, ["-c", ...flags.slice(0, 4)]);
  const ms = performance.now() - startedAt;
  await left(terminal);
  return ms;
}

async function readyFresh(): Promise<number> {
  const workspace = makeWorkspace("http://127.0.0.1:9");
  const startedAt = performance.now();
  const terminal = await opened(workspace, flags.slice(0, 4));
  const ms = performance.now() - startedAt;
  terminal.kill();
  await terminal.ended;
  workspace.remove();
  return ms;
}

async function enterToRequest(terminal: Drive, arrived: readonly number[]): Promise<number> {
  const before = arrived.length;
  terminal.send("next");
  await terminal.quiet(200);
  const sentAt = performance.now();
  terminal.send("\r");
  while (arrived.length === before) await sleep(1);
  const ms = (arrived[before] ?? 0) - sentAt;
  await terminal.quiet(500);
  return ms;
}

async function inTurn<T>(rounds: number, act: () => Promise<T>): Promise<T[]> {
  const given: T[] = [];
  for (let round = 0; round < rounds; round++) given.push(await act());
  return given;
}

/** Linux only: elsewhere there is nothing to read. */
async function memoryRows(name: string, terminal: Drive): Promise<Row[]> {
  const before = memoryOf(terminal.pid);
  const percent = await processorShare(terminal.pid, 30);
  const after = memoryOf(terminal.pid);
  return [
    {
      name: `memory after ${name}`,
      unit: "MB",
      measured: figure([after]),
      baseline: figure([before]),
      against: "30 s before",
      aim: { text: "≤ 400 MB, flat", met: after <= 400 && after <= before + 10 },
    },
    {
      name: "  processor at rest",
      unit: "%",
      measured: figure([Math.max(1e-3, percent)]),
      baseline: figure([1]),
      against: "aim",
      aim: { text: "≤ 1 %", met: percent <= 1 },
    },
  ];
}
