/** The command line, read into one plain value. Pure. */

import { parseArgs } from "node:util";
import { efforts } from "../../core/request.ts";
import { type BatchFlags, batchFlagsOf, batchOptions } from "./batch-flags.ts";
import { amount, duration, given, oneOf, UsageError, wholeNumber } from "./values.ts";

export type OutputFormat = "text" | "json" | "stream-json";
/** What a session is exported as. */
export type ExportFormat = "md" | "html" | "json";
export type PermissionMode = (typeof modes)[number];

export type Flags = {
  print: boolean;
  inputFormat: "text" | "stream-json";
  model?: string;
  effort?: string;
  outputFormat: OutputFormat;
  maxTurns?: number;
  maxBudgetUsd?: number;
  maxTimeMs?: number;
  permissionMode?: PermissionMode;
  allow: string[];
  deny: string[];
  addDirs: string[];
  context?: string;
  /** Soft window in tokens. */
  window?: number;
  continueNewest: boolean;
  /** Id, beginning of one, or name; "" when it stands without: a person is asked. */
  resume?: string;
  fork: boolean;
  bare: boolean;
  record?: string;
  loose: boolean;
  sessionDir?: string;
  appendSystemPrompt?: string;
  verbose: boolean;
  plain: boolean;
  debug?: string;
  step?: string;
  /** File that `report` writes as a page. */
  html?: string;
  /** Of `sessions export`. */
  format?: ExportFormat;
  /** Of `undo`: only list; the snapshot to go back to; take back the last undo. */
  list?: boolean;
  to?: number;
  redo?: boolean;
  /** Of `doctor`: end what killed agents left. */
  clean?: boolean;
  /** JSON, or the name of a file with JSON. */
  jsonSchema?: string;
};

/** What only `sawtooth fix` takes. */
export type FixFlags = {
  /** Shell commands that must pass; at least one. */
  checks: string[];
  /** Added to the task. */
  prompt?: string;
  maxAttempts: number;
  commit: boolean;
  /** File that gets the repair as a diff. */
  patch?: string;
  /** New branch that gets the repair as a commit. */
  branch?: string;
  /** Globs; when there are any, a repair may change nothing else. */
  allowPaths: string[];
  /** Files; the ending says the format. */
  reports: string[];
};

/** As written; the lab knows what it means. */
type ReplayFlags = { [flag in "prices" | "gaps" | "jobs" | "format"]: string | undefined } & {
  tune: boolean;
};

export type Command =
  | { name: "help" | "version"; flags: Flags }
  | { name: "run"; prompt?: string; flags: Flags }
  | { name: "fix"; fix: FixFlags; flags: Flags }
  | { name: "batch"; operands: string[]; batch: BatchFlags; flags: Flags }
  | { name: "replay"; operands: string[]; replay: ReplayFlags; flags: Flags }
  | { name: "report" | "sessions" | "undo" | "doctor" | "demo" | "schema"; operands: string[]; flags: Flags };

const subcommands = ["fix", "report", "sessions", "undo", "doctor", "demo", "schema"] as const;
const fixOptions = {
  check: { type: "string", multiple: true },
  prompt: { type: "string" },
  "max-attempts": { type: "string" },
  commit: { type: "boolean" },
  patch: { type: "string" },
  branch: { type: "string" },
  "allow-paths": { type: "string", multiple: true },
  report: { type: "string", multiple: true },
} as const;
const replayOptions = {
  prices: { type: "string" },
  gaps: { type: "string" },
  jobs: { type: "string" },
  tune: { type: "boolean" },
} as const;
const modes = ["ask", "accept-edits", "plan", "auto"] as const;

const options = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  print: { type: "boolean", short: "p" },
  model: { type: "string" },
  effort: { type: "string" },
  "output-format": { type: "string" },
  "input-format": { type: "string" },
  "json-schema": { type: "string" },
  "max-turns": { type: "string" },
  "max-budget-usd": { type: "string" },
  "max-time": { type: "string" },
  "permission-mode": { type: "string" },
  allow: { type: "string", multiple: true },
  deny: { type: "string", multiple: true },
  "add-dir": { type: "string", multiple: true },
  context: { type: "string" },
  window: { type: "string" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "string", short: "r" },
  fork: { type: "boolean" },
  bare: { type: "boolean" },
  record: { type: "string" },
  loose: { type: "boolean" },
  "session-dir": { type: "string" },
  "append-system-prompt": { type: "string" },
  verbose: { type: "boolean" },
  plain: { type: "boolean" },
  debug: { type: "string" },
  step: { type: "string" },
  html: { type: "string" },
  format: { type: "string" },
  list: { type: "boolean" },
  to: { type: "string" },
  redo: { type: "boolean" },
  clean: { type: "boolean" },
  ...fixOptions,
  ...replayOptions,
  ...batchOptions,
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>["values"];

/** Reads the words after the program's name. Throws `UsageError`. */
export function parseCommand(words: readonly string[]): Command {
  const { values, positionals } = parse(withResumeId(words));
  if (positionals[0] === "replay" && !values.print && !values.help)
    return replayOf(values, positionals.slice(1));
  if (positionals[0] === "batch" && !values.print && !values.help)
    return batchOf(values, positionals.slice(1));
  const flags = flagsOf(values);
  if (values.help) return { name: "help", flags };
  if (values.version) return { name: "version", flags };
  const first = positionals[0];
  const subcommand = flags.print ? undefined : subcommands.find((name) => name === first);
  if (subcommand === "fix") {
    refuse(values, "batch", batchOptions);
    refuse(values, "replay", replayOptions);
    return { name: "fix", fix: fixFlagsOf(values, positionals.slice(1)), flags };
  }
  refuse(values, "fix", fixOptions);
  refuse(values, "replay", replayOptions);
  refuse(values, "batch", batchOptions);
  if (subcommand) return { name: subcommand, operands: positionals.slice(1), flags };
  if (positionals.length > 1)
    throw new UsageError("more than one prompt: put the prompt in quotes (see sawtooth --help)");
  return { name: "run", flags, ...(first === undefined ? {} : { prompt: first }) };
}

function batchOf(values: Values, operands: string[]): Command {
  const { jobs, ...others } = values;
  refuse(others, "fix", fixOptions);
  refuse(others, "replay", replayOptions);
  return { name: "batch", operands, batch: batchFlagsOf(values, operands), flags: flagsOf(others) };
}

function replayOf(values: Values, operands: string[]): Command {
  refuse(values, "fix", fixOptions);
  refuse(values, "batch", batchOptions);
  const { format, prices, gaps, jobs, tune = false, ...others } = values;
  return { name: "replay", operands, replay: { format, prices, gaps, jobs, tune }, flags: flagsOf(others) };
}

function refuse(values: Values, command: string, own: object): void {
  const stray = Object.keys(own).find((name) => name in values);
  if (stray) throw new UsageError(`--${stray} belongs to sawtooth ${command} (see sawtooth --help)`);
}

/** `--resume` may stand without a session, which `parseArgs` does not know: an empty one is put in. */
function withResumeId(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    if (word !== "-r" && word !== "--resume") return [word];
    return words[index + 1]?.startsWith("-") === false ? [word] : ["--resume="];
  });
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const text = error instanceof Error ? (error.message.split(/\.\s|\n/)[0] ?? "") : String(error);
    throw new UsageError(`${text.charAt(0).toLowerCase()}${text.slice(1)} (see sawtooth --help)`);
  }
}

function flagsOf(values: Values): Flags {
  return {
    print: values.print ?? false,
    inputFormat: oneOf("--input-format", values["input-format"], ["text", "stream-json"]) ?? "text",
    outputFormat:
      oneOf("--output-format", values["output-format"], ["text", "json", "stream-json"]) ?? "text",
    allow: values.allow ?? [],
    deny: values.deny ?? [],
    addDirs: values["add-dir"] ?? [],
    continueNewest: values.continue ?? false,
    fork: values.fork ?? false,
    bare: values.bare ?? false,
    loose: values.loose ?? false,
    verbose: values.verbose ?? false,
    plain: values.plain ?? false,
    ...given("model", values.model),
    ...given("effort", oneOf("--effort", values.effort, efforts)),
    ...given("maxTurns", wholeNumber("--max-turns", values["max-turns"])),
    ...given("maxBudgetUsd", amount("--max-budget-usd", values["max-budget-usd"])),
    ...given("maxTimeMs", duration("--max-time", values["max-time"])),
    ...given("permissionMode", oneOf("--permission-mode", values["permission-mode"], modes)),
    ...given("context", values.context),
    ...given("window", wholeNumber("--window", values.window)),
    ...given("resume", values.resume),
    ...given("record", values.record),
    ...given("sessionDir", values["session-dir"]),
    ...given("appendSystemPrompt", values["append-system-prompt"]),
    ...given("debug", values.debug),
    ...given("jsonSchema", values["json-schema"]),
    ...given("step", values.step),
    ...given("html", values.html),
    ...given("format", oneOf("--format", values.format, ["md", "html", "json"])),
    ...given("list", values.list),
    ...given("to", values.to === "0" ? 0 : wholeNumber("--to", values.to)),
    ...given("redo", values.redo),
    ...given("clean", values.clean),
  };
}

function fixFlagsOf(values: Values, operands: readonly string[]): FixFlags {
  const checks = values.check ?? [];
  if (operands[0] !== undefined)
    throw new UsageError(
      `fix takes no ${operands[0]}: put commands and globs in quotes, each behind its flag`,
    );
  if (checks.length === 0 || checks.some((check) => check.trim() === ""))
    throw new UsageError('fix needs a check: sawtooth fix --check "npm test"');
  const targets = [values.commit && "--commit", values.branch !== undefined && "--branch"].filter(Boolean);
  if (targets.length > 1) throw new UsageError("--commit and --branch: one of them");
  const reports = values.report ?? [];
  const odd = reports.find((file) => !/\.(xml|sarif|md)$/.test(file));
  if (odd !== undefined) throw new UsageError(`--report ${odd}: must end in .xml (JUnit), .sarif or .md`);
  return {
    checks,
    maxAttempts: wholeNumber("--max-attempts", values["max-attempts"]) ?? 3,
    commit: values.commit ?? false,
    allowPaths: values["allow-paths"] ?? [],
    reports,
    ...given("prompt", values.prompt),
    ...given("patch", values.patch),
    ...given("branch", values.branch),
  };
}
