/**
 * `sawtooth fix`: failing checks become the task; the harness reruns them and verifies that a green run is legitimate.
 */

import { readFileSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Permission } from "../../agent/agent.ts";
import type { Conversation, Converse } from "../../app/conversation.ts";
import type { CheckProcesses } from "../../app/machine.ts";
import type { CheckSandbox } from "../../app/sandbox/check-sandbox.ts";
import type { OpenOptions, Run } from "../../app/session.ts";
import { watchUncaught } from "../../app/uncaught.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { UsageError } from "../../core/errors.ts";
import type { TurnEnd } from "../../core/events.ts";
import type { Access } from "../../core/ports.ts";
import { lastText } from "../../core/questions.ts";
import type { TreeChange } from "../../git/frozen-tree.ts";
import { openTree, type Tree } from "../../git/frozen-tree.ts";
import { GitError } from "../../git/run.ts";
import { isInside } from "../../permissions/paths.ts";
import type { FlagsOf } from "../arguments/options.ts";
import { type CheckContext, runCheck } from "../checks/check.ts";
import { debugTo, followRun, type Stop, stopOnSignals, warningsOf } from "../headless/headless.ts";
import { writeStack } from "../terminal-output.ts";
import { type Definition, definitionsOf, type ReadFile } from "./definition.ts";
import { patchBytes, prepareTarget, type Target, writePatch } from "./deliver.ts";
import { countViolation, type Violation, violationsOf } from "./guard.ts";
import { type ProgressReporter, progressReporter } from "./result.ts";
import type { FixOutcome } from "./task.ts";
import { type Attempt, type CheckState, fixWords, isFlaky, isGreen, taskText } from "./task.ts";

export type FixPorts = {
  converse: Converse;
  processes: CheckProcesses;
  /** Creates the walls around the checks. */
  checkSandbox(options: Pick<OpenOptions, "flags" | "env" | "cwd" | "warn">): CheckSandbox;
};

/** Additional runs of a check that fails, or that passes after a repair, to detect flaky ones. */
const moreRuns = 2;
/** Commands that a repair must not run; the harness commits and pushes. */
const denied = ["bash(git commit:*)", "bash(git push:*)"];

/** One run of `fix`. */
type Fix = {
  flags: FlagsOf<"fix">;
  target: Target;
  stop: Stop;
  progress: ProgressReporter;
  warnings: ReturnType<typeof warningsOf>;
  context: CheckContext;
  tree: Tree;
  /** The state before the first attempt. */
  before: string;
  first: CheckState[];
  /** The definitions of the checks at that time. */
  definitions: ReadonlyMap<string, Definition>;
};

/** Runs the checks and repairs until they pass or a limit is reached. Returns the exit code (design §5). */
export async function runFix(flags: FlagsOf<"fix">, ports: FixPorts): Promise<number> {
  const stop = stopOnSignals();
  const progress = progressReporter(flags, stop);
  try {
    return await fixed(flags, ports, stop, progress);
  } catch (error) {
    const told = error instanceof GitError ? new UsageError(error.message) : error;
    progress.notEnded(told);
    throw told;
  }
}

async function fixed(
  flags: FlagsOf<"fix">,
  ports: FixPorts,
  stop: Stop,
  progress: ProgressReporter,
): Promise<number> {
  const cwd = realpathSync(process.cwd());
  const deadline = flags.maxTimeMs === undefined ? undefined : Date.now() + flags.maxTimeMs;
  stop.stopAt(deadline);
  const warnings = warningsOf(flags);
  const tree = await openTree(workspaceRoot(cwd), ports.processes.environment("fix"), warnings.warn);
  const sandbox = ports.checkSandbox({ flags, env: process.env, cwd, warn: warnings.warn });
  const context = { cwd, processes: ports.processes, signal: stop.signal, sandbox };
  try {
    const target = await prepareTarget(flags, tree, cwd);
    const definitions = definitionsOf(flags.checks, cwd, readText);
    const first = await firstChecks(flags, context, progress);
    if (first.every(isGreen) || stop.signal.aborted)
      return progress.end({ state: stop.signal.aborted ? "stopped" : "green", first, attempts: [] });
    const before = await tree.take();
    const found = { tree, target, first, before, definitions };
    const whole: Fix = { flags, stop, progress, warnings, context, ...found };
    const ending = await repair(whole, ports.converse, deadline);
    const last = ending.attempts.at(-1);
    if (ending.state === "repaired" && last) {
      ending.patch = await tree.patch(whole.before, last.tree);
      const message = progress.commitMessage(ending);
      ending.delivered = await target.deliver({ patch: ending.patch, paths: last.changed, message });
    }
    return progress.end(ending);
  } finally {
    sandbox.close();
    tree.close();
  }
}

/** Runs each check, and the failing ones again. An error that nothing catches meanwhile ends them and is thrown. */
async function firstChecks(
  { checks }: FlagsOf<"fix">,
  context: CheckContext,
  progress: ProgressReporter,
): Promise<CheckState[]> {
  const uncaught = watchUncaught(() => {});
  try {
    return await uncaught.guard(context.signal, async (signal) => {
      const first = await runChecks(checks, { ...context, signal }, progress, 0);
      const failing = first.filter((check) => !isGreen(check));
      await runAgain(failing, { ...context, signal }, progress, 0);
      return first;
    });
  } finally {
    uncaught.close();
  }
}

async function runChecks(
  commands: readonly string[],
  context: CheckContext,
  progress: ProgressReporter,
  attempt: number,
): Promise<CheckState[]> {
  const states: CheckState[] = [];
  for (const command of commands) {
    const run = await runCheck(command, context);
    progress.check(run, attempt);
    states.push({ command, runs: [run] });
    if (context.signal.aborted) break;
  }
  return states;
}

/** Adds runs to see whether the verdict is stable. */
async function runAgain(
  states: readonly CheckState[],
  context: CheckContext,
  progress: ProgressReporter,
  attempt: number,
): Promise<void> {
  for (const state of states)
    for (let more = 0; more < moreRuns && !context.signal.aborted; more++) {
      const run = await runCheck(state.command, context);
      progress.check(run, attempt);
      state.runs.push(run);
    }
}

/** Runs the session: attempt after attempt until the checks pass honestly. */
async function repair(whole: Fix, converse: Converse, deadline: number | undefined): Promise<FixOutcome> {
  const { flags, stop, progress, warnings, first } = whole;
  const attempts: Attempt[] = [];
  const debug = debugTo(flags.debug);
  const conversation = await converse({
    flags: { ...flags, permissionMode: flags.permissionMode ?? "auto", deny: [...flags.deny, ...denied] },
    cwd: whole.context.cwd,
    env: process.env,
    warn: warnings.warn,
    crashed(error) {
      writeStack(error);
      progress.end({ state: "stopped", first, attempts });
    },
    onBug: writeStack,
    deadline,
    wrapModel: debug?.wrapModel,
    refuse: (access, folder) => refusalOutside(access, [whole.tree.root, folder]),
  });
  const { run } = conversation;
  if (deadline === undefined) stop.stopAt(run.agent.limits.deadline);
  const following = followRun(run, flags, debug);
  await following.begun();
  progress.begin(run, following.stop);
  warnings.begin(run);
  const state = await attemptAll(whole, conversation, attempts);
  const best = state === "repaired" ? undefined : await restoreBest(whole, run, attempts);
  await conversation.close();
  return { state, first, attempts, ...(best ? { best } : {}) };
}

/** Turn ends after which another attempt may succeed. */
const worthAnother: readonly TurnEnd[] = ["completed", "loop", "output_limit"];
/** Turn ends after which there is nothing to judge. */
const notJudged: readonly TurnEnd[] = ["model_error", "error", "hook"];

async function attemptAll(
  whole: Fix,
  conversation: Conversation,
  attempts: Attempt[],
): Promise<FixOutcome["state"]> {
  const { flags, stop, progress } = whole;
  const { run } = conversation;
  try {
    while (attempts.length < flags.maxAttempts) {
      const reason = await work(whole, conversation, attempts);
      if (stop.signal.aborted || notJudged.includes(reason)) return "stopped";
      const attempt = await judge(whole, run, attempts.length + 1);
      if (stop.signal.aborted) return "stopped";
      attempts.push(attempt);
      progress.attempt(attempt);
      if (attempt.passed) return "repaired";
      if (!worthAnother.includes(reason)) return "stopped";
    }
    return "failed";
  } catch (error) {
    writeStack(error);
    run.agent.log.append({ type: "turn_ended", reason: "error", detail: String(error) });
    return "stopped";
  }
}

/** Runs one turn of the model over the failing checks. */
async function work(
  { flags, first, stop }: Fix,
  { run, prompt }: Conversation,
  attempts: readonly Attempt[],
): Promise<TurnEnd> {
  const { artifacts, redact } = run.agent;
  const checks = attempts.at(-1)?.checks ?? first;
  const { maxAttempts, allowPaths } = flags;
  const task = { maxAttempts, allowPaths, prompt: flags.prompt, words: fixWords(), checks, attempts };
  return prompt([{ type: "text", text: taskText(task, { artifacts, redact }) }], stop.signal);
}

/** Reverts forbidden changes, runs the checks, and verifies a green run. */
async function judge(whole: Fix, run: Run, number: number): Promise<Attempt> {
  const { flags, context, progress, tree, before } = whole;
  const found = await violations(whole, await tree.take());
  const paths = found.flatMap(({ path }) => (path === undefined ? [] : [path]));
  await tree.restore(before, [...new Set(paths)]);
  const now = await tree.take();
  const left = found.length > 0 ? await violations(whole, now) : [];
  const changes = await tree.changes(before, now);
  const checks = await runChecks(flags.checks, context, progress, number);
  const green = checks.every(isGreen);
  if (green) await runAgain(checks, context, progress, number);
  const refused = [...found, ...(green ? doubts(whole, checks, changes) : [])];
  return {
    number,
    tree: now,
    summary: lastText(run.agent.log.events()),
    changed: changes.map(({ path }) => path),
    refused,
    checks,
    passed: checks.every(isGreen) && left.length === 0 && refused.length === found.length,
  };
}

async function violations(
  { flags, context, tree, before, definitions }: Fix,
  now: string,
): Promise<Violation[]> {
  return violationsOf({
    changes: await tree.changes(before, now),
    definitions: { before: definitions, after: definitionsOf(flags.checks, context.cwd, readText) },
    root: tree.root,
    allowPaths: flags.allowPaths,
  });
}

/** Returns doubts about a green run: fewer tests, or no change that explains it. */
function doubts({ first }: Fix, checks: readonly CheckState[], changes: readonly TreeChange[]): Violation[] {
  const counts = checks.flatMap(({ command, runs }, index) => {
    const before = first[index]?.runs[0]?.tests;
    return countViolation(command, before, runs[0]?.tests) ?? [];
  });
  const message = "nothing was changed: the checks pass by chance";
  const chance = changes.length === 0 && first.some(isFlaky);
  return chance ? [...counts, { rule: "nothing-changed", message }] : counts;
}

/** `auto`, but the editor stays inside the project and the session's folder. */
function refusalOutside(access: Access, folders: readonly string[]): Permission | undefined {
  const paths = access.kind === "write" ? access.paths : [];
  const outside = paths.find((path) => !folders.some((folder) => isInside(path, folder)));
  if (outside === undefined) return undefined;
  const reason = `${outside} is outside of the project, and a repair stays inside.`;
  return { decision: "deny", rule: "fix: inside the workspace", by: "fix", reason };
}

/** Saves the best attempt as a patch; undefined when nothing was changed. */
async function restoreBest({ tree, target, before }: Fix, run: Run, attempts: readonly Attempt[]) {
  const [best] = attempts.filter(({ changed }) => changed.length > 0).sort((a, b) => badness(a) - badness(b));
  const patch = await tree.patch(before, best?.tree ?? (await tree.take()));
  if (patch === "") return undefined;
  const file = target.attempt?.file ?? resolve(run.folder, "attempt.diff");
  if (target.attempt) target.attempt.save(patchBytes(patch));
  else writePatch(file, patch);
  return { file, attempt: best?.number ?? null };
}

/** Ranks attempts: fewer failing checks are better, then fewer failing tests. */
function badness({ checks, refused }: Attempt): number {
  const red = checks.filter((check) => !isGreen(check));
  const tests = red.reduce((sum, { runs }) => sum + (runs.at(-1)?.tests?.failed ?? 1), 0);
  return red.length * 1e9 + tests * 1e3 + refused.length;
}

/** Reads a small text file. */
const readText: ReadFile = (path) => {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size < 1024 * 1024 ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
};
