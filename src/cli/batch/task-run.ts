/** Runs one task once, from its files to its result line. Its failures affect no other task. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckProcesses } from "../../app/machine.ts";
import { storedRedactor } from "../../config/env-files.ts";
import { redactedValue } from "../../core/secrets/redact.ts";
import { makeFolders } from "../../disk/make-folders.ts";
import { openTree } from "../../git/frozen-tree.ts";
import { GitError } from "../../git/run.ts";
import { runCheck } from "../checks/check.ts";
import type { ResultObject } from "../headless/result.ts";
import { runChild } from "./child.ts";
import { CopyError, removeFolder } from "./copy.ts";
import type { Mirrors } from "./mirror.ts";
import { type Places, takeAway } from "./places.ts";
import type { ResultLine, TaskState } from "./results.ts";
import { forgetEnd, keepEnd, statesOf, storePatch } from "./run-end.ts";
import { type Task, wordsOf } from "./tasks.ts";
import { prepareTree } from "./tree.ts";

/**
 * Functions that only the composition root can provide. A family is the processes that carry the mark of a batch, or of
 * a run of it.
 */
export type BatchPorts = {
  processes: CheckProcesses;
  /** Path of the program's launcher. */
  program: string;
  /** Returns the cost of the sessions in a folder, by their logs. */
  spent(sessions: string): { turns: number; cost: number; sessionId: string | null };
  /** Kills every process that was started with this variable and value in its environment. */
  endFamily(variable: string, value: string): void;
};

export type RunContext = {
  ports: BatchPorts;
  /** Absolute folder of the batch. */
  out: string;
  mirrors: Mirrors;
  places: Places;
  keepTrees: boolean;
  signal: AbortSignal;
  onStart(prepared: string): void;
  onWarning(text: string): void;
  onTurns(turns: number): void;
};

/** Variables that mark the processes of a batch, and of a run of a task. */
export const batchMark = "SAWTOOTH_BATCH";
const runMark = "SAWTOOTH_BATCH_RUN";
/** Milliseconds beyond a task's own time limit, for its end. */
const lateMs = 60_000;
const mostText = 4_000;

export type RunOutcome = {
  line: ResultLine;
  /** Keeps this machine from running a task; the line then says nothing about the task. */
  fault: string | undefined;
  /** Removes the files of the task, and what is kept until its line is written. */
  remove(): Promise<void>;
};

/**
 * Runs the task in the new folder `run` (inside the batch's). `until`: milliseconds that its time limit gives. Throws
 * the system's error when that folder cannot be created.
 */
export async function runTask(
  task: Task,
  run: string,
  until: number | undefined,
  context: RunContext,
): Promise<RunOutcome> {
  const folder = join(context.out, run);
  makeFolders(folder);
  const [startedAt, since] = [Date.now(), performance.now()];
  const line = blank(task, run, startedAt);
  const tree = context.places.treeOf(run);
  try {
    await worked(task, line, until, { ...context, folder, tree });
  } catch (error) {
    Object.assign(line, problem(error, context.signal.aborted));
  }
  const fault = context.places.fault() ?? context.places.faultSince(since);
  if (fault !== undefined) Object.assign(line, { state: "error", errors: [fault, ...line.errors] });
  const redact = storedRedactor(process.env, [tree]);
  const isKept = context.keepTrees || !existsSync(tree);
  line.duration_ms = Date.now() - startedAt;
  const told = tidied(line, redact);
  keepEnd(folder, { line: told });
  const removeTree = isKept ? undefined : takeAway(tree);
  const remove = async () => {
    forgetEnd(folder);
    await Promise.all([removeFolder(statesOf(tree)), removeTree?.()]);
  };
  return { line: told, fault, remove };
}

/** Returns the line for a run of which only the start is known. */
export function blank({ id, hash }: Pick<Task, "id" | "hash">, run: string, startedAt: number): ResultLine {
  return {
    id,
    hash,
    state: "interrupted",
    exit_code: null,
    terminal_reason: null,
    errors: [],
    result: "",
    structured_output: null,
    run,
    patch: null,
    changed_files: [],
    origin: null,
    model: null,
    session_id: null,
    num_turns: 0,
    total_cost_usd: 0,
    usage: null,
    started_at: startedAt,
    duration_ms: 0,
  };
}

/** Words a problem. A missing folder or program fails one task; a bug of ours ends the batch. */
function problem(error: unknown, stopped: boolean): Partial<ResultLine> {
  const code = (error as NodeJS.ErrnoException).code;
  if (!(error instanceof GitError || error instanceof CopyError) && code === undefined) throw error;
  const errors = [error instanceof Error ? error.message : String(error)];
  return stopped ? { state: "interrupted", errors: ["stopped"] } : { state: "error", errors };
}

type TaskLocation = RunContext & { folder: string; tree: string };

/** Works on the task and notes on its line what is known, as soon as it is: a patch that fails must not hide the cost. */
async function worked(
  task: Task,
  line: ResultLine,
  until: number | undefined,
  location: TaskLocation,
): Promise<void> {
  const { out, ports, folder, tree, mirrors, places } = location;
  const environment = (mark: string) => ({
    ...ports.processes.environment(mark),
    [batchMark]: out,
    [runMark]: folder,
  });
  const env = environment("batch");
  const { origin, description } = await prepareTree(task, tree, { ours: places.ours, mirrors, env });
  line.origin = origin;
  location.onStart(description);
  const failed = await setUp(task, location, environment);
  if (failed) return void Object.assign(line, failed);
  const opened = Date.now();
  const states = { folder: statesOf(tree), opened };
  const files = await openTree(tree, env, location.onWarning, states);
  const before = await files.take();
  Object.assign(line, await runAgent(task, until, location));
  keepEnd(folder, {
    line: tidied({ ...line, duration_ms: Date.now() - line.started_at }, storedRedactor(process.env, [tree])),
    unpatched: { tree, before, opened },
  });
  // No process of the task may write while its files are compared.
  ports.endFamily(runMark, folder);
  Object.assign(line, await storePatch(files, before, line.run, out));
}

async function setUp(
  { setup }: Task,
  { ports, folder, tree: cwd, signal }: TaskLocation,
  environment: CheckProcesses["environment"],
): Promise<Partial<ResultLine> | undefined> {
  if (setup === undefined) return undefined;
  const processes = { ...ports.processes, environment };
  const { passed, how, output } = await runCheck(setup, { cwd, processes, signal });
  writeFileSync(join(folder, "setup.txt"), output, { mode: 0o600 });
  if (signal.aborted) return { state: "interrupted", errors: ["stopped"] };
  if (passed) return undefined;
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  return { state: "error", errors: [`setup failed (${how}): ${last}`.slice(0, 300)] };
}

/** Runs the agent. */
async function runAgent(
  task: Task,
  until: number | undefined,
  location: TaskLocation,
): Promise<Partial<ResultLine>> {
  const { ports, folder, out, signal } = location;
  const sessions = join(folder, "session");
  const ended = await runChild({
    program: ports.program,
    words: [...wordsOf(task), "--output-format=stream-json", `--session-dir=${sessions}`],
    input: task.options.check === undefined ? (task.prompt ?? "") : "",
    cwd: location.tree,
    env: { ...process.env, [batchMark]: out, [runMark]: folder },
    folder,
    signal,
    longestMs: until === undefined ? undefined : until + lateMs,
    endFamily: () => ports.endFamily(runMark, folder),
    onTurns: location.onTurns,
  });
  const { result, exitCode, ending, said } = ended;
  if (result) return factsOf(result, exitCode, signal.aborted);
  const { turns, cost, sessionId } = ports.spent(sessions);
  return {
    state: signal.aborted ? "interrupted" : stateOf(exitCode),
    exit_code: exitCode,
    errors: [`the process ended without a result (${ending})${said ? `: ${said.split("\n").at(-1)}` : ""}`],
    session_id: sessionId,
    num_turns: turns,
    total_cost_usd: cost,
  };
}

function factsOf(result: ResultObject, exitCode: number | null, stopped: boolean): Partial<ResultLine> {
  return {
    state: stopped && exitCode !== 0 ? "interrupted" : stateOf(exitCode),
    exit_code: exitCode,
    terminal_reason: result.terminal_reason,
    errors: result.errors,
    result: result.result,
    structured_output: result.structured_output,
    model: Object.keys(result.modelUsage)[0] ?? null,
    session_id: result.session_id,
    num_turns: result.num_turns,
    total_cost_usd: result.total_cost_usd,
    usage: result.usage,
  };
}

/** Converts the exit code of a headless run (design §5). */
function stateOf(exitCode: number | null): TaskState {
  const states: Record<number, TaskState> = {
    0: "done",
    1: "failed",
    3: "limit",
    4: "credentials",
    5: "blocked",
    6: "model",
    129: "interrupted",
    130: "interrupted",
    143: "interrupted",
  };
  return states[exitCode ?? -1] ?? "error";
}

/** Redacts and shortens the texts of a result line. */
function tidied(line: ResultLine, redact: (text: string) => string): ResultLine {
  const short = (text: string): string => redact(text).slice(0, mostText).toWellFormed();
  const answer = redactedValue(line.structured_output, redact);
  return { ...line, result: short(line.result), errors: line.errors.map(short), structured_output: answer };
}
