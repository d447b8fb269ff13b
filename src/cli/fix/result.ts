/** The output of `sawtooth fix`: progress on stderr, one result on stdout, and the requested reports. */

import { resolve } from "node:path";
import type { Run } from "../../app/session.ts";
import { exitCodeOf } from "../../core/errors.ts";
import { lastText, started } from "../../core/questions.ts";
import type { FlagsOf } from "../arguments/options.ts";
import type { CheckRun } from "../checks/check.ts";
import type { Stop } from "../headless/headless.ts";
import { resultObject, sessionlessResult, verdict } from "../headless/result.ts";
import { errorText, writeError, writeLine, writeOut } from "../terminal-output.ts";
import { outputFor } from "./deliver.ts";
import { reportFor } from "./report.ts";
import { type Attempt, type CheckState, type FixOutcome, isFlaky, isGreen, runText } from "./task.ts";

export type ProgressReporter = ReturnType<typeof progressReporter>;

type State = {
  flags: FlagsOf<"fix">;
  stop: Stop;
  startedAt: number;
  run?: Run;
  unfollow(): void;
  pendingLines: object[];
  /** Files for reports, wherever they lead before the agent runs. */
  reports: { path: string; save(content: string): void }[];
  /** The checks before the first attempt, as far as they ran. */
  first: CheckState[];
};

/** Reports progress in the format that the flags name. */
export function progressReporter(flags: FlagsOf<"fix">, stop: Stop) {
  const reports = flags.reports.map((file) => ({
    path: resolve(file),
    save: outputFor("--report", resolve(file)),
  }));
  const startedAt = Date.now();
  const state: State = { flags, stop, startedAt, reports, first: [], unfollow: () => {}, pendingLines: [] };
  // `init` is the first line of a stream, so earlier lines wait for it.
  const line = (value: object): void => {
    if (flags.outputFormat !== "stream-json") return;
    if (state.run) writeLine({ ...value, session_id: state.run.sessionId });
    else state.pendingLines.push(value);
  };
  const say = (text: string): void => {
    if (flags.outputFormat !== "stream-json") writeError(`${text}\n`);
  };
  return {
    check(run: CheckRun, attempt: number): void {
      if (attempt === 0) addRun(state.first, run);
      line({ type: "check", attempt, ...checkFacts(run) });
      say(`check \`${run.command}\` ${runText([run])} in ${(run.durationMs / 1000).toFixed(1)} s`);
    },
    begin(run: Run, unfollow: () => void): void {
      state.run = run;
      state.unfollow = unfollow;
      for (const pending of state.pendingLines.splice(0)) line(pending);
      say(`repairing: at most ${many(flags.maxAttempts, "attempt")}, session ${run.sessionId}`);
    },
    attempt(attempt: Attempt): void {
      line({ type: "attempt", ...attemptFacts(attempt) });
      for (const { message } of attempt.refused) say(`refused: ${message}`);
      say(`attempt ${attempt.number}: ${attempt.passed ? "the checks pass" : "not repaired"}`);
    },
    commitMessage: (ending: FixOutcome): string => commitMessage(flags, ending, state.run),
    end: (ending: FixOutcome): number => end(state, ending),
    notEnded: (error: unknown): void => notEnded(state, error),
  };
}

function end(state: State, ending: FixOutcome): number {
  const { flags, run } = state;
  state.unfollow();
  const { result, exitCode } = outcome(state, ending);
  for (const { path, save } of state.reports) save(reportFor(path, ending, { ...result, exitCode }));
  if (flags.outputFormat === "stream-json" && !run)
    for (const pending of state.pendingLines.splice(0)) writeLine(pending);
  if (flags.outputFormat !== "text") writeLine(result);
  else writeOut(`${endText(ending, result.result, flags)}\n`);
  if (result.is_error && flags.outputFormat !== "stream-json")
    writeError(`sawtooth: ${result.errors.join("; ")}\n`);
  return exitCode;
}

/** Gives a program that waits for the result one, though an error ended the run, and writes the reports. */
function notEnded(state: State, error: unknown): void {
  const { flags, run, unfollow, startedAt, pendingLines, first } = state;
  unfollow();
  const durationMs = Date.now() - startedAt;
  const errors = [errorText(error)];
  const failed = {
    subtype: "error_during_execution" as const,
    is_error: true,
    errors,
    terminal_reason: "error",
  };
  const result = run
    ? { ...resultObject(run.agent.log.events(), { durationMs }), ...failed }
    : sessionlessResult({ durationMs, reason: "not_started", error: errorText(error) });
  const exitCode = exitCodeOf(error) ?? 1;
  for (const { path, save } of state.reports)
    save(reportFor(path, { state: "stopped", first, attempts: [] }, { ...result, exitCode }));
  if (flags.outputFormat === "text") return;
  if (flags.outputFormat === "stream-json" && !run) for (const pending of pendingLines) writeLine(pending);
  writeLine(result);
}

function addRun(checks: CheckState[], run: CheckRun): void {
  const known = checks.find(({ command }) => command === run.command);
  if (known) known.runs.push(run);
  else checks.push({ command: run.command, runs: [run] });
}

function outcome({ run, stop, startedAt }: State, ending: FixOutcome) {
  const durationMs = Date.now() - startedAt;
  const fix = fixFacts(ending);
  if (!run) return withoutSession(ending, stop, durationMs, fix);
  const events = run.agent.log.events();
  const signal = stop.by();
  const timing = { durationMs, ...(signal ? { signal } : {}) };
  const base = { ...resultObject(events, timing), fix };
  const repaired = ending.state === "repaired";
  if (repaired) {
    const fine = { subtype: "success" as const, is_error: false, errors: [], terminal_reason: "repaired" };
    return { result: { ...base, ...fine }, exitCode: 0 };
  }
  const { exitCode } = verdict(events, timing);
  if (exitCode !== 0) return { result: { ...base, errors: [...base.errors, ...bestText(ending)] }, exitCode };
  const errors = [failure(ending), ...bestText(ending)];
  const failed = {
    subtype: "error_during_execution" as const,
    is_error: true,
    terminal_reason: "not_repaired",
  };
  return { result: { ...base, ...failed, errors }, exitCode: 1 };
}

/** Returns the result when the checks were green at once, or we were stopped before there was a session. */
function withoutSession({ state }: FixOutcome, stop: Stop, durationMs: number, fix: FixFacts) {
  if (state === "green")
    return { result: { ...sessionlessResult({ durationMs, reason: "green" }), fix }, exitCode: 0 };
  const late = stop.signal.reason === "max_time";
  const signal = stop.by();
  const note = late
    ? { reason: "max_time", subtype: "error_max_time" as const, error: "the time limit was reached" }
    : { reason: "interrupted", subtype: "error_interrupted" as const, error: "stopped by the user" };
  const exitCode = late ? 3 : signal === "SIGTERM" ? 143 : signal === "SIGHUP" ? 129 : 130;
  return { result: { ...sessionlessResult({ durationMs, ...note }), fix }, exitCode };
}

type FixFacts = ReturnType<typeof fixFacts>;

/** Returns the part of the result that only `fix` has. */
function fixFacts(ending: FixOutcome) {
  const last = ending.attempts.at(-1);
  return {
    state: ending.state,
    checks: ending.first.map((check, index) => ({
      command: check.command,
      flaky: isFlaky(check) || (last?.checks[index] !== undefined && isFlaky(last.checks[index])),
      before: check.runs.map(checkFacts),
      after: last?.checks[index]?.runs.map(checkFacts) ?? [],
    })),
    attempts: ending.attempts.map(attemptFacts),
    changed: last?.passed ? last.changed : [],
    patch: ending.delivered?.patch ?? null,
    commit: ending.delivered?.commit ?? null,
    branch: ending.delivered?.branch ?? null,
    best_attempt: ending.best ?? null,
  };
}

function checkFacts({ command, passed, exitCode, how, durationMs, tests }: CheckRun) {
  return {
    command,
    passed,
    exit_code: exitCode ?? null,
    how,
    duration_ms: durationMs,
    tests: tests ?? null,
  };
}

function attemptFacts({ number, passed, changed, refused, checks, summary }: Attempt) {
  const failing = checks.filter((check) => !isGreen(check)).map(({ command }) => command);
  return { number, passed, changed, refused, failing, summary };
}

function failure({ attempts }: FixOutcome): string {
  const last = attempts.at(-1);
  const red = (last?.checks ?? []).filter((check) => !isGreen(check));
  const what = red.map(({ command, runs }) => `\`${command}\` ${runText(runs)}`).join(", ");
  const why = what || last?.refused.map(({ message }) => message).join("; ") || "the checks fail";
  return `not repaired in ${many(attempts.length, "attempt")}: ${why}`;
}

function bestText({ best }: FixOutcome): string[] {
  if (!best) return [];
  return [`the best attempt is saved in ${best.file}`];
}

/** Reports to the user: the outcome, the model's words, and the delivery. */
function endText(ending: FixOutcome, answer: string, { patch }: FlagsOf<"fix">): string {
  const { state, attempts, first, delivered } = ending;
  const last = attempts.at(-1);
  switch (state) {
    case "green":
      return `${first.map(({ command, runs }) => `\`${command}\` ${runText(runs)}`).join("\n")}\nNothing to repair.`;
    case "repaired": {
      const checks = (last?.checks ?? []).map(({ command, runs }) => `\`${command}\` ${runText(runs)}`);
      const where = [
        `Changed: ${last?.changed.join(", ") || "nothing that git tracks"}`,
        ...(patch ? [`Patch: ${patch}`] : []),
        ...(delivered?.commit
          ? [`Commit: ${delivered.commit}${delivered.branch ? ` on ${delivered.branch}` : ""}`]
          : []),
      ];
      return [`Repaired in ${many(attempts.length, "attempt")}.`, ...checks, "", answer, "", ...where].join(
        "\n",
      );
    }
    case "failed":
    case "stopped":
      return answer;
  }
}

function commitMessage({ checks }: FlagsOf<"fix">, { attempts }: FixOutcome, run: Run | undefined): string {
  const command = (checks[0] ?? "").replaceAll(/\s+/g, " ");
  const subject = `Make \`${command}\` pass`;
  const events = run?.agent.log.events();
  const session = events ? `\n\nRepaired by sawtooth fix, session ${started(events).sessionId}` : "";
  const text = events ? lastText(events) : "";
  const short = subject.length > 72 ? `${subject.slice(0, 71)}…` : subject;
  return `${short}\n\n${text}${session}, ${many(attempts.length, "attempt")}.\n`;
}

function many(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
