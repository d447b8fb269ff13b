/** The reports of `sawtooth fix` for other programs and for a review: JUnit XML, SARIF, Markdown. Pure. */

import { cleanText, headOf, tailOf, utf8Length } from "../../core/text/clean-text.ts";
import { showHidden } from "../../core/text/hidden-characters.ts";
import type { CheckRun } from "../checks/check.ts";
import type { FixOutcome } from "./task.ts";
import { type Attempt, type CheckState, isFlaky, isGreen, runText } from "./task.ts";

/** The fields of the result object that a report uses. */
export type FixContext = {
  exitCode: number;
  result: string;
  errors: string[];
  session_id: string | null;
  num_turns: number;
  duration_ms: number;
  total_cost_usd: number;
};

/** Maximum bytes of one output in a report. */
const outputBytes = 20_000;
const patchBytes = 60_000;

/** Returns the report in the format that the ending of `path` names. */
export function reportFor(path: string, ending: FixOutcome, context: FixContext): string {
  if (path.endsWith(".xml")) return junit(ending, context);
  return path.endsWith(".sarif") ? sarif(ending, context) : markdown(ending, context);
}

type Final = { check: CheckState; before: CheckState };

/** Returns the final state of each check, beside its first state. */
function finals({ first, attempts }: FixOutcome): Final[] {
  const last = attempts.at(-1)?.checks;
  return first.map((before, index) => ({ before, check: last?.[index] ?? before }));
}

function accepted({ state }: FixOutcome): boolean {
  return state === "green" || state === "repaired";
}

/** Returns the errors of a run that was stopped: its checks alone could look as if all were well. */
function brokenBy({ state }: FixOutcome, { errors }: FixContext): string[] {
  return state === "stopped" ? errors : [];
}

function lastRun({ runs }: CheckState): CheckRun | undefined {
  return runs.findLast((run) => !run.passed) ?? runs.at(-1);
}

/** Keeps the beginning and the end of an output, without terminal codes. */
function shortened(output: string, maxBytes = outputBytes): string {
  const text = showHidden(cleanText(output)).toWellFormed();
  if (utf8Length(text) <= maxBytes) return text;
  return `${headOf(text, maxBytes / 2)}\n[…]\n${tailOf(text, maxBytes / 2)}`;
}

function junit(ending: FixOutcome, context: FixContext): string {
  const cases = finals(ending).map(({ check }) => {
    const run = lastRun(check);
    const seconds = check.runs.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
    const red = isGreen(check) ? "" : `<failure message=${quoted(runText(check.runs))}/>`;
    const output = `<system-out>${escaped(shortened(run?.output ?? ""))}</system-out>`;
    return `    <testcase classname="sawtooth.fix.check" name=${quoted(check.command)} time="${seconds.toFixed(3)}">${red}${output}</testcase>`;
  });
  const refusals = ending.attempts.flatMap(({ number, refused }) =>
    refused.map((refusal) => ({ number, ...refusal })),
  );
  const guard =
    accepted(ending) || refusals.length === 0
      ? ""
      : `<failure message=${quoted(refusals.map(({ message }) => message).join("; "))}/>`;
  cases.push(
    `    <testcase classname="sawtooth.fix" name="tests and checks are left alone" time="0">${guard}</testcase>`,
  );
  const errors = brokenBy(ending, context);
  if (errors.length > 0)
    cases.push(
      `    <testcase classname="sawtooth.fix" name="the run came to its end" time="0"><error message=${quoted(errors.join("; "))}/></testcase>`,
    );
  const failures = cases.filter((testCase) => testCase.includes("<failure")).length;
  const time = (context.duration_ms / 1000).toFixed(3);
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors.length > 0 ? 1 : 0}" skipped="0" time="${time}"`;
  const properties = [
    ["state", ending.state],
    ["attempts", String(ending.attempts.length)],
    ["session", context.session_id ?? ""],
    ["cost_usd", context.total_cost_usd.toFixed(4)],
  ].map(([name = "", value = ""]) => `<property name=${quoted(name)} value=${quoted(value)}/>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sawtooth fix" ${counts}>`,
    `  <testsuite name="sawtooth fix" ${counts}>`,
    `    <properties>${properties.join("")}</properties>`,
    ...cases,
    `    <system-out>${escaped(shortened(context.result))}</system-out>`,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/** Escapes text for XML 1.0, which cannot represent the other control characters. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "�")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', "&quot;").replaceAll("\n", "&#10;")}"`;
}

const rules = [
  { id: "check-fails", text: "A check fails." },
  { id: "check-flaky", text: "A check does not always give the same verdict." },
  { id: "refused-change", text: "A change to tests or checks was refused and taken back." },
  { id: "repair", text: "A place that the repair changed." },
] as const;

type Found = {
  rule: (typeof rules)[number]["id"];
  level: string;
  text: string;
  path?: string | undefined;
  line?: number;
};

function sarif(ending: FixOutcome, context: FixContext): string {
  const results = findings(ending).map(({ rule, level, text, path, line }) => ({
    ruleId: rule,
    ruleIndex: rules.findIndex(({ id }) => id === rule),
    level,
    message: { text },
    ...(path === undefined
      ? {}
      : {
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: encodeURI(path) },
                region: { startLine: line ?? 1 },
              },
            },
          ],
        }),
  }));
  const driver = {
    name: "sawtooth fix",
    rules: rules.map(({ id, text }) => ({ id, shortDescription: { text } })),
  };
  const notifications = brokenBy(ending, context).map((text) => ({ level: "error", message: { text } }));
  const invocations = [
    {
      executionSuccessful: context.exitCode === 0,
      exitCode: context.exitCode,
      toolExecutionNotifications: notifications,
    },
  ];
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver }, invocations, results }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function findings(ending: FixOutcome): Found[] {
  const checks = finals(ending).flatMap(({ check, before }): Found[] => {
    const context = `\`${check.command}\` ${runText(check.runs)}`;
    const flaky: Found[] =
      isFlaky(before) || isFlaky(check) ? [{ rule: "check-flaky", level: "warning", text: context }] : [];
    return isGreen(check) ? flaky : [...flaky, { rule: "check-fails", level: "error", text: context }];
  });
  const refused = ending.attempts.flatMap(({ refused }) =>
    refused.map(
      ({ message, path }): Found => ({ rule: "refused-change", level: "warning", text: message, path }),
    ),
  );
  const hunks = changedLocations(ending.patch ?? "").map(
    ({ path, line }): Found => ({
      rule: "repair",
      level: "note",
      text: "Changed by the repair.",
      path,
      line,
    }),
  );
  return [...checks, ...refused, ...hunks];
}

/** Returns the file and first line of each hunk. */
function changedLocations(patch: string): { path: string; line: number }[] {
  const locations: { path: string; line: number }[] = [];
  let path: string | undefined;
  for (const line of Buffer.from(patch, "latin1").toString("utf8").split("\n")) {
    path = /^\+\+\+ b\/(.*)$/.exec(line)?.[1] ?? (line.startsWith("diff --git ") ? undefined : path);
    const start = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(line)?.[1];
    if (path !== undefined && start !== undefined) locations.push({ path, line: Math.max(1, Number(start)) });
  }
  return locations;
}

const headlines: Record<FixOutcome["state"], string> = {
  green: "Nothing to repair: the checks pass",
  repaired: "Repaired: the checks pass",
  failed: "Not repaired",
  stopped: "Stopped before it was repaired",
};

function markdown(ending: FixOutcome, context: FixContext): string {
  const rows = finals(ending).map(
    ({ before, check }) =>
      `| ${code(check.command)} | ${cell(runText(before.runs))} | ${cell(runText(check.runs))} |`,
  );
  const patch = ending.patch ? Buffer.from(ending.patch, "latin1").toString("utf8") : "";
  return [
    `## ${headlines[ending.state]}`,
    "",
    "| check | before | now |",
    "| --- | --- | --- |",
    ...rows,
    "",
    ...(context.errors.length > 0 ? [...context.errors.map(cell), ""] : []),
    ...(context.result ? [context.result, ""] : []),
    ...ending.attempts.map(attemptLine),
    "",
    ...(patch
      ? [
          "<details><summary>The repair</summary>",
          "",
          fenced(shortened(patch, patchBytes), "diff"),
          "",
          "</details>",
          "",
        ]
      : []),
    ...(ending.state === "repaired" || ending.state === "green" ? [] : failingOutput(ending)),
    `${context.num_turns} model calls, $${context.total_cost_usd.toFixed(4)}, ${Math.round(context.duration_ms / 1000)} s${context.session_id ? `, session \`${context.session_id}\`` : ""}`,
    "",
  ].join("\n");
}

function attemptLine({ number, passed, changed, refused }: Attempt): string {
  const files = changed.map(code).join(", ") || "no files";
  const context =
    refused.length > 0
      ? `; refused and taken back: ${refused.map(({ message }) => cell(message)).join("; ")}`
      : "";
  return `- Attempt ${number}: ${passed ? "the checks pass" : "not repaired"}, ${files}${context}`;
}

function failingOutput(ending: FixOutcome): string[] {
  return finals(ending)
    .filter(({ check }) => !isGreen(check))
    .flatMap(({ check }) => [
      `<details><summary>Output of ${escaped(check.command)}</summary>`,
      "",
      fenced(shortened(lastRun(check)?.output ?? "")),
      "",
      "</details>",
      "",
    ]);
}

/** Returns a fence that no text inside can close. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

function code(text: string): string {
  return `\`${cell(text).replaceAll("`", "'")}\``;
}

function cell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
}
