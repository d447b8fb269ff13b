/**
 * The messages that the model reads in `sawtooth fix`: the failing checks as its task, and the earlier attempts. The
 * texts are in prompts/fix.md.
 */

import { readPrompt } from "../../app/prompts.ts";
import type { Artifacts } from "../../core/ports.ts";
import { enclosed } from "../../core/text/tags.ts";
import { truncateOutput } from "../../core/text/truncate-output.ts";
import type { CheckRun } from "../checks/check.ts";
import type { Delivered } from "./deliver.ts";
import type { Violation } from "./guard.ts";

/** Runs of one check with nothing changed in between. */
export type CheckState = { command: string; runs: CheckRun[] };

export type Attempt = {
  number: number;
  /** The state of the files that the checks ran on. */
  tree: string;
  /** The model's summary of it. */
  summary: string;
  /** Relative paths that differ from the state before the first attempt. */
  changed: string[];
  refused: Violation[];
  checks: CheckState[];
  passed: boolean;
};

export type FixOutcome = {
  state: "green" | "repaired" | "failed" | "stopped";
  /** The checks before the first attempt. */
  first: CheckState[];
  attempts: Attempt[];
  /** The attempt that came nearest, as a patch file. */
  best?: { file: string; attempt: number | null };
  /** The repair as bytes, one character each. */
  patch?: string;
  delivered?: Delivered;
};

/** Maximum bytes of the output of all failing checks. */
const outputBytes = 16_000;
const ledgerChars = 400;

export type Words = Record<string, string>;

/** Returns the sections of prompts/fix.md by name. */
export function fixWords(): Words {
  const sections = readPrompt("fix").split(/^## /m).slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const [name = "", ...text] = section.split("\n");
      return [name.trim(), text.join("\n").trim()];
    }),
  );
}

/** Returns true when every run of the check passed. */
export function isGreen({ runs }: CheckState): boolean {
  return runs.every((run) => run.passed);
}

/** Returns true when runs without a change in between disagree. */
export function isFlaky({ runs }: CheckState): boolean {
  return runs.some((run) => run.passed) && !isGreen({ command: "", runs });
}

type TaskContext = { artifacts: Artifacts; redact(text: string): string };

export type Task = {
  words: Words;
  checks: readonly CheckState[];
  attempts: readonly Attempt[];
  maxAttempts: number;
  allowPaths: readonly string[];
  prompt?: string | undefined;
};

/** Returns the message for the next attempt: the first one is the task, later ones report the previous attempt. */
export function taskText(task: Task, context: TaskContext): string {
  const { words, checks, attempts, maxAttempts } = task;
  const red = checks.filter((check) => !isGreen(check));
  const last = attempts.at(-1);
  return fill(words[last ? "again" : "task"] ?? "", {
    checks: red.map((check) => checkText(check, outputBytes / red.length, context)).join("\n\n"),
    notes: notes(task, red, last),
    attempts: String(maxAttempts),
    attempt: String(attempts.length + 1),
    state: stateText(checks, red),
    ledger: attempts.map(ledgerLine).join("\n"),
  });
}

function stateText(checks: readonly CheckState[], red: readonly CheckState[]): string {
  if (red.length === 0) return "They pass, but the repair was not accepted.";
  if (checks.length === 1) return "The check does not pass.";
  return `${red.length} of ${checks.length} do not pass.`;
}

function fill(text: string, values: Record<string, string>): string {
  const filled = text.replace(/\{\{(\w+)\}\}/g, (all, name: string) => values[name] ?? all);
  return filled.replace(/\n{3,}/g, "\n\n");
}

/** Shows the last failing run; its output is data, shortened as a tool's would be, with a file that holds the whole. */
function checkText(
  { command, runs }: CheckState,
  maxBytes: number,
  { artifacts, redact }: TaskContext,
): string {
  const run = runs.findLast((each) => !each.passed) ?? runs.at(-1);
  if (!run) return "";
  const raw = redact(run.output.toWellFormed());
  const path = Buffer.byteLength(raw) > maxBytes ? artifacts.write("txt", raw) : undefined;
  const text = truncateOutput(raw, { maxBytes, path }).text;
  return enclosed(
    "check",
    text.trim() || "(no output)",
    ` command=${JSON.stringify(command)} result="${run.how}"`,
  );
}

function notes({ words, allowPaths, prompt }: Task, red: readonly CheckState[], last?: Attempt): string {
  const refused = last?.refused.map(({ message }) => `- ${message}`).join("\n");
  const flaky = red.filter(isFlaky).map(({ command, runs }) =>
    fill(words.flaky ?? "", {
      command,
      passed: String(runs.filter((run) => run.passed).length),
      runs: String(runs.length),
    }),
  );
  const given = [
    ...(refused ? [fill(words.refused ?? "", { list: refused })] : []),
    ...flaky,
    ...(allowPaths.length > 0 ? [fill(words.allowed ?? "", { patterns: allowPaths.join(", ") })] : []),
    ...(prompt && !last ? [fill(words.wishes ?? "", { prompt })] : []),
  ];
  return given.length > 0 ? `\n${given.join("\n\n")}\n` : "";
}

/** Describes one attempt in one line: its changes, its summary, and the checks that failed. */
function ledgerLine({ number, summary, changed, refused, checks }: Attempt): string {
  const said = summary.replaceAll(/\s+/g, " ").slice(0, ledgerChars).toWellFormed();
  const files = changed.length > 0 ? `changed ${changed.slice(0, 10).join(", ")}` : "changed nothing";
  const red = checks
    .filter((check) => !isGreen(check))
    .map(({ command, runs }) => `\`${command}\` ${runText(runs)}`);
  const then = red.length > 0 ? `then ${red.join(", ")}` : "then the checks passed";
  const cheated = refused.length > 0 ? `; refused: ${refused.map(({ message }) => message).join("; ")}` : "";
  return `${number}. ${files}; ${then}${cheated}. Its summary: ${said || "(none)"}`;
}

/** Returns texts such as `failed (exit 1, 2 of 9 tests failed)` and `passed in 2 of 3 runs`. */
export function runText(runs: readonly CheckRun[]): string {
  const passed = runs.filter((run) => run.passed).length;
  const last = runs.findLast((run) => !run.passed) ?? runs.at(-1);
  if (!last) return "was not run";
  const { tests } = last;
  const counted = tests ? `, ${tests.failed} of ${tests.total} tests failed` : "";
  if (passed === runs.length) return tests ? `passed (${tests.total} tests)` : "passed";
  if (passed > 0) return `passed in ${passed} of ${runs.length} runs (${last.how}${counted})`;
  return `failed (${last.how}${counted})`;
}
