/**
 * Every option of the command line, once. The parser, the help, the keys and the schema of batch tasks follow from this
 * table, and so do the types: the field of `Flags` is the key. A new option is one entry here, and the code that uses
 * it.
 */

import { permissionModes } from "../../core/decision.ts";
import { exportFormats, inputFormats, outputFormats } from "../../core/formats.ts";
import { efforts } from "../../core/request.ts";
import { sandboxChoices } from "../../core/sandbox.ts";
import {
  type CommandName,
  choice,
  dollars,
  flag,
  number,
  type Option,
  schema,
  share,
  text,
  texts,
  time,
  words,
} from "./option.ts";

const options = {
  print: flag({ short: "p", help: "headless: never asks, prints the answer, exits", commands: ["run"] }),
  model: text({
    value: "<provider/id>",
    offers: "models",
    help: "anthropic/claude-sonnet-5-5 (default), openai/<id>, ollama/<id> and others (see sawtooth models), scripted/<file>, recorded/<file>",
    task: true,
    readers: ["acp"],
  }),
  effort: choice(efforts, { value: "<level>", help: efforts.join(", "), task: true, readers: ["acp"] }),
  outputFormat: choice(outputFormats, {
    idle: ["demo"],
    value: "<f>",
    help: "text (default), json (one result object), stream-json (JSON Lines)",
    otherwise: "text",
    readers: ["models", "mcp"],
  }),
  inputFormat: choice(inputFormats, {
    idle: ["fix", "demo"],
    value: "<f>",
    help: "text (default), stream-json (messages and control lines from a program)",
    otherwise: "text",
    oneSession: true,
  }),
  jsonSchema: schema({
    idle: ["fix", "demo"],
    value: "<s>",
    offers: "files",
    help: "JSON or a file: the answer as data that fits it, in structured_output",
    task: true,
  }),
  quarantine: flag({
    idle: ["fix", "demo"],
    help: "with -p and --json-schema, for text nobody trusts: no tools, no project files, no session kept, and only data that fits a schema without free text comes out",
    oneSession: true,
  }),
  maxTurns: number({
    value: "<n>",
    help: "most model calls, over the whole session",
    task: true,
    readers: ["acp"],
  }),
  maxBudgetUsd: dollars({
    value: "<x>",
    help: "most dollars, over the whole session",
    task: true,
    readers: ["acp"],
  }),
  maxTimeMs: time({
    name: "max-time",
    value: "<t>",
    help: "longest time: 90s, 10m, 1h",
    task: true,
    readers: ["acp"],
  }),
  permissionMode: choice(permissionModes, {
    value: "<m>",
    help: "ask (default), accept-edits, plan, auto; reading inside the workspace is free in each",
    task: true,
    readers: ["replay", "acp"],
  }),
  sandbox: choice(sandboxChoices, {
    value: "<s>",
    help: "walls around commands: auto (default; what works here), on (or exit 2), off",
    task: true,
    readers: ["acp"],
  }),
  allow: texts({
    value: "<rule>",
    help: "bash(npm test:*), edit(src/**), read(/data/**); repeatable",
    task: true,
    readers: ["replay", "acp"],
  }),
  deny: texts({
    value: "<rule>",
    help: "as --allow; beats --allow and the mode",
    task: true,
    readers: ["replay", "acp"],
  }),
  addDirs: texts({
    name: "add-dir",
    value: "<folder>",
    offers: "folders",
    help: "another folder to work in; repeatable",
    task: true,
    readers: ["acp"],
  }),
  context: text({
    value: "<name>",
    offers: "stacks",
    help: "economist (default), raw, masking, summary, hybrid, focus, focus-top; economist, masking and hybrid also with :short, :medium or :long (5, 10 or 18 turns stay unmasked); :caution=8 sets a number of the engine",
    task: true,
    readers: ["acp"],
  }),
  window: number({
    value: "<tokens>",
    help: "soft window: the context is kept below it",
    readers: ["replay", "acp"],
    task: true,
  }),
  continueNewest: flag({
    idle: ["demo"],
    name: "continue",
    short: "c",
    help: "continue the newest session of this folder",
    oneSession: true,
  }),
  resume: text({
    idle: ["demo"],
    short: "r",
    value: "[id or name]",
    bare: true,
    readers: ["report", "egress"],
    offers: "sessions",
    help: "continue a session; without one, a list to choose from (in a terminal)",
    oneSession: true,
  }),
  fork: flag({
    idle: ["demo"],
    help: "with -c or -r: branch off, and leave the old session as it is",
    oneSession: true,
  }),
  worktree: text({
    short: "w",
    value: "[name]",
    bare: true,
    help: "work in a git worktree of its own, on the branch sawtooth/<name>; it stays when something changed in it",
    commands: ["run"],
  }),
  record: text({
    value: "<file>",
    offers: "files",
    help: "write every model exchange to a cassette, which recorded/<file> plays",
    oneSession: true,
  }),
  loose: flag({ idle: ["batch"], help: "play a cassette by order, not by request", readers: ["acp"] }),
  bare: flag({ help: "no user settings, no project instructions", task: true, readers: ["models", "acp"] }),
  appendSystemPrompt: text({
    value: "<text>",
    help: "text to add to the system prompt",
    task: true,
    readers: ["acp"],
  }),
  sessionDir: text({
    idle: ["demo"],
    value: "<folder>",
    offers: "folders",
    help: "where sessions are stored",
    readers: ["report", "egress", "sessions", "undo", "doctor", "acp"],
    oneSession: true,
  }),
  verbose: flag({ idle: ["batch"], help: "show steps on stderr", readers: ["report", "sessions"] }),
  plain: flag({ help: "talk without redrawing: each row once, for screen readers" }),
  debug: text({
    idle: ["demo"],
    value: "<file>",
    offers: "files",
    help: "write events and requests to a file",
    oneSession: true,
  }),
  help: flag({ short: "h", help: "show this help" }),
  version: flag({ short: "v", help: "show the version" }),

  checks: texts({
    name: "check",
    value: "<command>",
    help: "what must pass; repeatable, in order",
    commands: ["fix"],
    task: true,
  }),
  prompt: text({ value: "<text>", help: "a hint for the model", commands: ["fix"] }),
  maxAttempts: number({
    value: "<n>",
    help: "most attempts (default: 3)",
    otherwise: 3,
    commands: ["fix"],
    task: true,
  }),
  patch: text({ value: "<file>", offers: "files", help: "write the repair as a diff", commands: ["fix"] }),
  commit: flag({ help: "commit the repair on the current branch", commands: ["fix"] }),
  branch: text({ value: "<name>", help: "commit it on a new branch", commands: ["fix"] }),
  allowPaths: texts({
    value: "<glob>",
    help: "files that may change; repeatable (default: any, but tests and checks are guarded)",
    commands: ["fix"],
    task: true,
  }),
  reports: texts({
    name: "report",
    value: "<file>",
    offers: "files",
    help: ".xml (JUnit), .sarif or .md; repeatable",
    commands: ["fix"],
  }),

  out: text({
    value: "<folder>",
    offers: "folders",
    help: "results.jsonl, and patch, session and log of each task; the same folder again continues the batch",
    commands: ["batch"],
  }),
  jobs: number({
    value: "<n>",
    help: "tasks at the same time (default: processors, at most 4)",
    commands: ["batch"],
  }),
  shard: share({
    value: "<i/n>",
    help: "only every n-th task, from the i-th on: one part for each of n machines",
    commands: ["batch"],
  }),
  taskBudgetUsd: dollars({
    value: "<x>",
    help: "most dollars for each task; --max-budget-usd is for the whole batch",
    commands: ["batch"],
    eachTask: "maxBudgetUsd",
  }),
  taskTimeMs: time({
    name: "task-time",
    value: "<t>",
    help: "longest time of each task; --max-time is for the whole batch",
    commands: ["batch"],
    eachTask: "maxTimeMs",
  }),
  summary: flag({ help: "add up the results in the folders that are named", commands: ["batch"] }),
  retry: flag({ help: "run again what ended but is not done", commands: ["batch"] }),
  trees: text({
    value: "<folder>",
    help: "where the tasks' files are while they run, such as a local disk (default: in --out)",
    commands: ["batch"],
  }),
  mirrors: text({
    value: "<folder>",
    help: "where repositories by URL are kept; parts and machines may share it (default: in --out)",
    commands: ["batch"],
  }),
  keepTrees: flag({ help: "keep the files of each task, not only its patch", commands: ["batch"] }),

  step: text({
    value: "<n>",
    help: "print the exact request of step n; summary-n for that of summary call n",
    commands: ["report"],
  }),
  html: text({
    value: "<file>",
    offers: "files",
    help: "write a page that opens in any browser",
    commands: ["report", "replay"],
  }),

  serve: flag({
    help: "serve that page on this machine while the session works; prints its address",
    commands: ["report"],
  }),

  contexts: words({
    name: "context",
    value: "<a,b,…>",
    offers: "stacks",
    help: "stacks to compare with raw (default: masking, hybrid, focus-auto, economist); after a name -auto folds by itself, +ingest shortens results, :maskKeep=5 sets a number of the engine",
    commands: ["replay"],
  }),
  prices: words({
    value: "<a,b,…>",
    offers: "models",
    help: "models whose prices count, or read/write as shares of the input price: .1/1.25",
    commands: ["replay"],
  }),
  gaps: choice(["recorded", "ignore"], {
    value: "<g>",
    help: "recorded (default): pauses let the cache go cold; ignore: they do not",
    otherwise: "recorded",
    commands: ["replay"],
  }),
  tableFormat: choice(["table", "json", "csv"], {
    name: "format",
    value: "<f>",
    help: "table (default), json, csv",
    otherwise: "table",
    commands: ["replay"],
  }),
  tune: flag({
    help: "sweep the engine's numbers for one price, print the best as settings",
    commands: ["replay"],
  }),
  reuse: flag({
    help: "how long observations stay in use instead: the share that later replies still quote, by kind and age",
    commands: ["replay"],
  }),
  threads: number({ name: "jobs", value: "<n>", help: "threads", commands: ["replay"] }),
  permissions: flag({
    help: "which calls would be asked or refused, in each mode or that of --permission-mode, with and without a sandbox",
    commands: ["replay"],
  }),

  format: choice(exportFormats, {
    value: "<f>",
    help: `of export: ${exportFormats.join(", ")} (default: md)`,
    otherwise: "md",
    commands: ["sessions"],
  }),
  redact: flag({
    help: "of export, to share it: without home folder, names of user and machine, and e-mail addresses",
    commands: ["sessions"],
  }),

  list: flag({ help: "show the snapshots, change nothing", commands: ["undo"] }),
  to: number({ value: "<n>", help: "go back to this snapshot", least: 0, commands: ["undo"] }),
  redo: flag({ help: "take the last undo back", commands: ["undo"] }),

  url: text({
    value: "<url>",
    help: "of add: a server over HTTP instead of a program",
    commands: ["mcp"],
  }),
  headers: texts({
    name: "header",
    value: "<h>",
    help: `of add: sent with each request, as 'Authorization: Bearer \${TOKEN}'; repeatable`,
    commands: ["mcp"],
  }),
  variables: texts({
    name: "env",
    value: "<K=V>",
    help: `of add: a variable that the program gets; '\${NAME}' is one of your environment; repeatable`,
    commands: ["mcp"],
  }),
  noSandbox: flag({
    help: "of add: let the program run outside of the sandbox",
    commands: ["mcp"],
  }),

  yes: text({
    value: "<hash>",
    help: "of add and update: accept what has this hash, where nobody can be asked",
    commands: ["plugin"],
  }),

  clean: flag({ help: "end orphaned processes, remove stale locks", commands: ["doctor"] }),
};

type Options = typeof options;
type Commands<O> = O extends { commands?: readonly (infer C)[] } ? C : never;
type Value<O> = O extends { read(texts: readonly string[], name: string): infer T } ? T : never;
type Taken<C extends CommandName> = {
  [K in keyof Options as [C] extends [Commands<Options[K]>] ? K : never]: Value<Options[K]>;
};
type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The options of one command as given: the common ones, and its own. */
export type FlagsOf<C extends CommandName> = Present<Taken<C>>;
/** The options that every command takes. */
export type Flags = FlagsOf<CommandName>;

/** An option with the field that holds its value, and its long name without the dashes. */
export type NamedOption = Option & { field: string; name: string };

/** The whole table as a list, in the order of the help. */
export const allOptions: readonly NamedOption[] = Object.entries<Option>(options).map(([field, option]) => ({
  ...option,
  field,
  name: option.name ?? field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
}));
