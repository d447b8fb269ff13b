/** The command line, read into one plain value. Pure. */

import { parseArgs } from "node:util";

/** A mistake of the caller: one line that says what is wrong and what to do. Exit code 2. */
export class UsageError extends Error {}

export type OutputFormat = "text" | "json" | "stream-json";
export type PermissionMode = "ask" | "accept-edits" | "plan" | "auto";

export type Flags = {
  print: boolean;
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
  /** Id or prefix; "" for the newest of the folder. */
  resume?: string;
  fork: boolean;
  bare: boolean;
  record?: string;
  loose: boolean;
  sessionDir?: string;
  appendSystemPrompt?: string;
  verbose: boolean;
  debug?: string;
  step?: number;
};

export type Command =
  | { name: "help" | "version"; flags: Flags }
  | { name: "run"; prompt?: string; flags: Flags }
  | { name: "report" | "sessions" | "demo"; operands: string[]; flags: Flags };

const subcommands = ["report", "sessions", "demo"] as const;
const efforts = ["low", "medium", "high", "xhigh", "max"];

const options = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  print: { type: "boolean", short: "p" },
  model: { type: "string" },
  effort: { type: "string" },
  "output-format": { type: "string" },
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
  debug: { type: "string" },
  step: { type: "string" },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>["values"];

/** Reads the words after the program's name. Throws `UsageError`. */
export function parseCommand(words: readonly string[]): Command {
  const { values, positionals } = parse(withResumeId(words));
  const flags = flagsOf(values);
  if (values.help) return { name: "help", flags };
  if (values.version) return { name: "version", flags };
  const first = positionals[0];
  const subcommand = subcommands.find((name) => name === first);
  if (subcommand) return { name: subcommand, operands: positionals.slice(1), flags };
  if (positionals.length > 1)
    throw new UsageError(`more than one prompt: put the prompt in quotes (see sawtooth --help)`);
  return { name: "run", flags, ...(first === undefined ? {} : { prompt: first }) };
}

/** `--resume` may stand without an id, which `parseArgs` does not know: an empty id is put in. */
function withResumeId(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    if (word !== "-r" && word !== "--resume") return [word];
    const next = words[index + 1];
    return next !== undefined && /^\d{8}[\w-]*$/.test(next) ? [word] : ["--resume="];
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
    ...given("model", values.model),
    ...given("effort", oneOf("--effort", values.effort, efforts)),
    ...given("maxTurns", wholeNumber("--max-turns", values["max-turns"])),
    ...given("maxBudgetUsd", amount("--max-budget-usd", values["max-budget-usd"])),
    ...given("maxTimeMs", duration("--max-time", values["max-time"])),
    ...given(
      "permissionMode",
      oneOf("--permission-mode", values["permission-mode"], ["ask", "accept-edits", "plan", "auto"]),
    ),
    ...given("context", values.context),
    ...given("window", wholeNumber("--window", values.window)),
    ...given("resume", values.resume),
    ...given("record", values.record),
    ...given("sessionDir", values["session-dir"]),
    ...given("appendSystemPrompt", values["append-system-prompt"]),
    ...given("debug", values.debug),
    ...given("step", wholeNumber("--step", values.step)),
  };
}

function given<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: T });
}

function oneOf<const T extends string>(
  flag: string,
  value: string | undefined,
  known: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  const found = known.find((name) => name === value);
  if (!found) throw new UsageError(`${flag} ${value}: must be one of ${known.join(", ")}`);
  return found;
}

function wholeNumber(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(value)) throw new UsageError(`${flag} ${value}: must be a whole number above 0`);
  return Number(value);
}

function amount(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d*\.?\d+$/.test(value) || Number(value) <= 0) {
    throw new UsageError(`${flag} ${value}: must be an amount in dollars above 0, such as 0.50`);
  }
  return Number(value);
}

/** Milliseconds of `90s`, `10m`, `1h`, `500ms` or plain seconds. */
export function duration(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const match = /^(\d*\.?\d+)(ms|s|m|h)?$/.exec(value);
  const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const time = match ? Number(match[1]) * factors[(match[2] ?? "s") as keyof typeof factors] : 0;
  if (time <= 0) throw new UsageError(`${flag} ${value}: must be a time such as 90s, 10m or 1h`);
  return time;
}
