/** Headless: one prompt, one turn, one result; never a question. */

import { runTurn } from "../agent/loop.ts";
import type { UserBlock } from "../core/blocks.ts";
import type { LogEvent } from "../core/events.ts";
import { started } from "../core/questions.ts";
import { type Flags, UsageError } from "./arguments.ts";
import { lastText, resultObject, verdict } from "./result.ts";
import type { OpenRun, Run } from "./run.ts";
import { readStdin } from "./stdin.ts";
import { stepLines } from "./steps.ts";
import { eventLine, initLine } from "./stream-json.ts";

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

const heartbeatMs = 10_000;

/** Runs the prompt and returns the exit code. Everything for programs goes to stdout, the rest to stderr. */
export async function runPrint(prompt: string | undefined, flags: Flags, openRun: OpenRun): Promise<number> {
  const startedAt = Date.now();
  const content = await messageOf(prompt);
  const early: string[] = [];
  let warn = (text: string): void => {
    early.push(text);
  };
  const run = await openRun({ flags, cwd: process.cwd(), env: process.env, warn: (text) => warn(text) });
  warn = (text) => warnings(run, flags, text);
  const stop = stopOnSignals(flags.maxTimeMs);
  const endOutput = beginOutput(run, flags, stop.abort);
  for (const text of early) warn(text);
  if (content.warning) warn(content.warning);
  try {
    run.say(content.blocks);
    await runTurn(run.agent, stop.signal);
  } catch (error) {
    process.stderr.write(`sawtooth: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    run.agent.log.append({ type: "turn_ended", reason: "error", detail: String(error) });
  }
  await run.close();
  const events = run.agent.log.events();
  const by = stop.by();
  endOutput(resultObject(events, { durationMs: Date.now() - startedAt, ...(by ? { signal: by } : {}) }));
  return verdict(events, by).exitCode;
}

/** The prompt and what is piped, as one message (design §5). Throws `UsageError` when there is neither. */
async function messageOf(prompt: string | undefined): Promise<{ blocks: UserBlock[]; warning?: string }> {
  if (prompt !== undefined && prompt.trim() === "")
    throw new UsageError("the prompt is empty: say what to do");
  const given = prompt === "-" ? undefined : prompt;
  const piped = await readStdin(given === undefined);
  const text = [given, given && piped.text ? `<stdin>\n${piped.text}\n</stdin>` : piped.text]
    .filter((part) => part?.trim())
    .join("\n\n");
  if (text === "") throw new UsageError('no prompt: give one, as in sawtooth -p "fix the failing test"');
  return { blocks: [{ type: "text", text }], ...(piped.warning ? { warning: piped.warning } : {}) };
}

function warnings(run: Run, flags: Flags, text: string): void {
  run.agent.log.append({ type: "warning", text });
  if (flags.outputFormat !== "stream-json") process.stderr.write(`sawtooth: ${text}\n`);
}

/** One controller for Ctrl-C, TERM, HUP and the clock; a second signal ends the process at once. */
function stopOnSignals(maxTimeMs: number | undefined) {
  const controller = new AbortController();
  let received: Signal | undefined;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (received) process.exit(name === "SIGTERM" ? 143 : 130);
      received = name;
      controller.abort(name);
    });
  }
  if (maxTimeMs !== undefined) setTimeout(() => controller.abort("max_time"), maxTimeMs).unref();
  return { signal: controller.signal, abort: () => controller.abort("closed"), by: () => received };
}

/** Starts writing in the wanted format; returns what writes the end. */
function beginOutput(
  run: Run,
  flags: Flags,
  abort: () => void,
): (result: ReturnType<typeof resultObject>) => void {
  const { log } = run.agent;
  // A reader that went away (`| head -1`) wants no more: stop, and say nothing.
  process.stdout.on("error", abort);
  if (flags.verbose) {
    log.subscribe((event) => {
      for (const line of stepLines(event, log.events())) process.stderr.write(`${line}\n`);
    });
  }
  if (flags.outputFormat === "stream-json") return streamOutput(run);
  return (result) => {
    const { outputFormat } = flags;
    if (outputFormat === "json") process.stdout.write(`${JSON.stringify(result)}\n`);
    else process.stdout.write(`${lastText(log.events())}\n`);
    if (result.is_error) process.stderr.write(`sawtooth: ${result.errors.join("; ")}${hint(result)}\n`);
  };
}

function hint(result: ReturnType<typeof resultObject>): string {
  const denied = result.permission_denials[0];
  if (result.subtype === "error_permission" && denied)
    return ` (denied: ${denied.tool_name}; ${denied.rule})`;
  return result.subtype === "error_during_execution" ? "" : ` (go on: ${result.resume})`;
}

function streamOutput(run: Run): (result: object) => void {
  const { log, model } = run.agent;
  const write = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  write(initLine(started(log.events()), model.card.id, run.mode));
  const unsubscribe = log.subscribe((event: LogEvent) => {
    const line = eventLine(event, run.sessionId);
    if (line) write(line);
  });
  const heartbeat = setInterval(() => write({ type: "heartbeat", session_id: run.sessionId }), heartbeatMs);
  return (result) => {
    clearInterval(heartbeat);
    unsubscribe();
    write(result);
  };
}
