/** Reads the file of a batch: one JSON object a line, checked as a whole before anything is run. */

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { UsageError, ValueError } from "../../core/errors.ts";
import { isOwn, parseCommand } from "../arguments/arguments.ts";
import type { Kind } from "../arguments/option.ts";
import { taskKey, taskOptions } from "../arguments/task-options.ts";

export type Task = {
  id: string;
  /** From 1, in the file. */
  line: number;
  /** Hash of the line's content, whatever the order of its keys: a changed line is another task. */
  hash: string;
  prompt?: string;
  /** Absolute folder, or a URL. */
  repo?: string;
  ref?: string;
  setup?: string;
  /** Options under the names of the file; the line's own override those of the whole batch. */
  options: TaskOptions;
};

export type TaskOptions = { [key in string]?: TaskValue };
type TaskValue = string | number | boolean | object;

const own = { id: "text", prompt: "text", repo: "text", ref: "text", setup: "text" } as const;
const kinds: Readonly<Record<string, Kind>> = {
  ...own,
  ...Object.fromEntries(taskOptions.map((option) => [taskKey(option), option.kind])),
};

const example = '{"id": "one", "prompt": "…", "repo": "../project"}';
/** Length that fits one word of a command line, with room to spare. */
const longestHint = 100_000;

/** Reads all tasks of the text of `file`, in order. `base`: folder for relative paths in it. Throws `UsageError`. */
export function readTasks(file: string, defaults: TaskOptions): Task[] {
  const base = file === "-" ? process.cwd() : dirname(resolve(file));
  const lines = readText(file)
    .replace(/^\uFEFF/, "")
    .split("\n");
  const tasks = lines.flatMap((text, index) => {
    if (text.trim() === "") return [];
    const fail = (what: string): never => {
      throw new UsageError(`${file} line ${index + 1}: ${what}`);
    };
    return [taskOf(objectIn(text, fail), { line: index + 1, base, defaults, fail })];
  });
  if (tasks.length === 0)
    throw new UsageError(`${file} contains no tasks: write one JSON object per line, such as ${example}`);
  const lineOf = new Map<string, number>();
  for (const { id, line } of tasks) {
    const first = lineOf.get(id);
    if (first !== undefined)
      throw new UsageError(
        `${file} line ${line}: duplicate id ${id}, first used on line ${first}: give each task its own`,
      );
    lineOf.set(id, line);
  }
  return tasks;
}

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}

type Fail = (what: string) => never;
type TaskContext = { line: number; base: string; defaults: TaskOptions; fail: Fail };
type Fields = Record<string, unknown>;

function objectIn(text: string, fail: Fail): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fail(
      `invalid JSON (${error instanceof Error ? error.message.slice(0, 120) : error}); put one task on each line`,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return fail(`a task must be a JSON object, such as ${example}`);
  return value as Fields;
}

function taskOf(fields: Fields, context: TaskContext): Task {
  const { line, base, defaults, fail } = context;
  for (const [key, value] of Object.entries(fields)) checkField(key, value, fail);
  const { id, prompt, repo, ref, setup, ...options } = fields as { [key: string]: string | undefined };
  if (id === undefined || !/^[A-Za-z0-9][\w.-]{0,119}$/.test(id))
    return fail(
      `${id === undefined ? "missing id" : `invalid id ${JSON.stringify(id)}`}: use up to 120 of A-Z, a-z, 0-9, . _ -, starting with a letter or digit`,
    );
  if (prompt !== undefined && prompt.trim() === "") return fail("the prompt is empty: describe the task");
  if (prompt === undefined && options.check === undefined) return fail("a task needs a prompt or a check");
  if (ref !== undefined && repo === undefined) return fail("ref works only together with repo");
  if (ref?.startsWith("-")) return fail(`ref ${ref}: not a valid name of a branch, tag, or commit`);
  const task: Task = {
    id,
    line,
    hash: hashOf(fields),
    ...(prompt === undefined ? {} : { prompt }),
    ...(repo === undefined ? {} : { repo: repoOf(repo, base, fail) }),
    ...(ref === undefined ? {} : { ref }),
    ...(setup === undefined ? {} : { setup }),
    options: together(defaults, resolved(options, base)),
  };
  checkWords(task, fail);
  return task;
}

function checkField(key: string, value: unknown, fail: Fail): void {
  const kind = kinds[key];
  if (kind === undefined)
    fail(`unknown key ${JSON.stringify(key)}; known keys: ${Object.keys(kinds).join(", ")}`);
  const isText = typeof value === "string";
  const isNumber = typeof value === "number";
  const fine: Record<Kind, boolean> = {
    text: isText,
    choice: isText,
    words: isText,
    number: isNumber,
    amount: isNumber,
    texts:
      isText || (Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === "string")),
    flag: typeof value === "boolean",
    duration: isText || isNumber,
    schema: isText || (typeof value === "object" && value !== null && !Array.isArray(value)),
  };
  const wanted: Record<Kind, string> = {
    text: "a text",
    choice: "a text",
    words: "a text",
    number: "a number",
    amount: "a number",
    texts: "a text or a list of texts",
    flag: "true or false",
    duration: "a time such as 90s or 10m",
    schema: "a JSON schema or the name of a file",
  };
  if (kind !== undefined && !fine[kind]) fail(`${key} must be ${wanted[kind]}`);
}

/** Hashes the content: keys sorted at every depth, no white space. */
function hashOf(fields: Fields): string {
  const sorted = JSON.stringify(fields, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(sorted).digest("hex");
}

/** Returns true when git takes this as the address of another machine, or of a repository by URL. */
export function isUrl(repo: string): boolean {
  return /^(https?|ssh|git|file):\/\/[^-]|^[\w][\w.-]*@[\w.-]+:[^-]/.test(repo);
}

function repoOf(repo: string, base: string, fail: Fail): string {
  if (isUrl(repo)) return repo;
  if (repo.includes("::") || /^\w+:\/\//.test(repo))
    fail(`repo ${repo}: must be a folder, or an https, ssh, git, or file URL`);
  const folder = resolve(base, repo);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? folder : fail(`repo ${repo}: no such folder (paths are relative to ${base})`);
}

/** Resolves files that options name against the folder of their source. */
export function resolved(options: TaskOptions, base: string): TaskOptions {
  const { model, add_dir: folders, json_schema: schema } = options;
  const [, provider, file] =
    /^(scripted|recorded)\/(.+)$/s.exec(typeof model === "string" ? model : "") ?? [];
  const isFile = typeof schema === "string" && !schema.trimStart().startsWith("{");
  return {
    ...options,
    ...(file && !isAbsolute(file) ? { model: `${provider}/${resolve(base, file)}` } : {}),
    ...(folders === undefined ? {} : { add_dir: listOf(folders).map((folder) => resolve(base, folder)) }),
    ...(isFile ? { json_schema: resolve(base, schema) } : {}),
  };
}

/** Combines options: rules add up; for everything else the line's own wins. */
function together(defaults: TaskOptions, options: TaskOptions): TaskOptions {
  const rules = ["allow", "deny", "add_dir"].flatMap((key) => {
    const all = [...listOf(defaults[key]), ...listOf(options[key])];
    return all.length > 0 ? [[key, all] as const] : [];
  });
  return { ...defaults, ...options, ...Object.fromEntries(rules) };
}

function listOf(value: TaskValue | undefined): string[] {
  return value === undefined ? [] : ((Array.isArray(value) ? value : [value]) as string[]);
}

/** Returns the command line of the task's own process, which gets the prompt of a task without a check on its input. */
export function wordsOf({ prompt, options }: Task): string[] {
  const flags = Object.entries(options).flatMap(([key, value]) => {
    const flag = `--${key.replaceAll("_", "-")}`;
    if (value === true) return [flag];
    if (value === false) return [];
    if (Array.isArray(value)) return value.map((text) => `${flag}=${text}`);
    return [`${flag}=${typeof value === "object" ? JSON.stringify(value) : value}`];
  });
  if (options.check === undefined) return ["-p", "-", ...flags];
  return ["fix", ...flags, ...(prompt === undefined ? [] : [`--prompt=${prompt}`])];
}

/** Checks values with the program's own command-line parser. */
function checkWords(task: Task, fail: Fail): void {
  const { prompt = "", options } = task;
  if (options.check !== undefined && options.json_schema !== undefined)
    fail("json_schema cannot be combined with check");
  if (options.check !== undefined && prompt.length > longestHint)
    fail(`with a check, the prompt is only a hint: use at most ${longestHint} characters`);
  const stray = taskOptions.find((option) => isOwn(option, "fix") && options[taskKey(option)] !== undefined);
  if (stray && options.check === undefined) fail(`${taskKey(stray)} needs a check`);
  try {
    parseCommand(wordsOf(task));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    fail(
      error instanceof ValueError
        ? `${error.subject.replace(/^--/, "").replaceAll("-", "_")} ${error.problem}`
        : error.message,
    );
  }
}
