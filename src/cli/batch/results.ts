/** The folder of a batch: what it was begun with, and one line for each run of a task, never rewritten. */

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { StartError } from "../../app/session.ts";
import { makeFolders } from "../../core/make-folders.ts";
import { UsageError } from "../arguments/values.ts";
import type { TaskOptions } from "./tasks.ts";

/** How a run of a task ended. The last four say nothing of the task: it is run again. */
export type TaskState =
  | "done"
  | "failed"
  | "limit"
  | "blocked"
  | "credentials"
  | "model"
  | "error"
  | "interrupted";

/** Where the files came from. `bytes` and `files`: of a copy. */
export type Origin = { kind: "clone" | "copy" | "empty"; commit?: string; files?: number; bytes?: number };

/** A line of results.jsonl. Paths are inside the folder of the batch. */
export type ResultLine = {
  id: string;
  hash: string;
  state: TaskState;
  exit_code: number | null;
  terminal_reason: string | null;
  errors: string[];
  result: string;
  structured_output: unknown;
  run: string;
  patch: string | null;
  changed_files: string[];
  origin: Origin | null;
  model: string | null;
  session_id: string | null;
  num_turns: number;
  total_cost_usd: number;
  usage: object | null;
  /** Milliseconds since 1970. */
  started_at: number;
  duration_ms: number;
};

const resultsName = "results.jsonl";

/** The results of an existing folder, oldest first, and what is wrong with its file. Throws `UsageError`. */
export function readResults(folder: string): { lines: ResultLine[]; warnings: string[] } {
  const file = join(folder, resultsName);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && existsSync(join(folder, "batch.json"))) return { lines: [], warnings: [] };
    throw new UsageError(`${folder} holds no results of a batch: cannot read ${resultsName} (${code})`);
  }
  const warnings: string[] = [];
  const lines = text.split("\n").flatMap((line, index) => {
    const found = line === "" ? undefined : resultIn(line);
    // The beginning of a line that was being written when the machine went down.
    if (line !== "" && !found) warnings.push(`${file} line ${index + 1} is damaged and does not count`);
    return found ?? [];
  });
  return { lines, warnings };
}

function resultIn(line: string): ResultLine | undefined {
  try {
    const value = JSON.parse(line) as ResultLine;
    return typeof value.id === "string" && typeof value.run === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The newest result of each task. */
export function newest(lines: readonly ResultLine[]): Map<string, ResultLine> {
  return new Map(lines.map((line) => [line.id, line]));
}

export type Results = ReturnType<typeof openResults>;

/** Appends durably: a line is on the disk when `append` returns. Throws `StartError` when it cannot be written. */
export function openResults(folder: string) {
  const { lines, warnings } = readResults(folder);
  const file = join(folder, resultsName);
  return {
    lines,
    warnings,
    append(line: ResultLine): void {
      try {
        const fd = openSync(file, "a+", 0o600);
        const begin = endsInLine(fd) ? "" : "\n";
        writeSync(fd, `${begin}${JSON.stringify(line)}\n`);
        fsyncSync(fd);
        closeSync(fd);
      } catch (error) {
        throw new StartError(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code ?? error}`, 1);
      }
      lines.push(line);
    },
  };
}

function endsInLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 10);
}

type Begun = { options: TaskOptions };

function makeOut(folder: string, shown: string): void {
  try {
    makeFolders(folder, (path) => mkdirSync(path, { mode: 0o700 }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--out ${shown} cannot be made (${code}): name a folder that can`);
  }
}

/** Makes the folder, or checks that it is the one of this batch. Throws `UsageError`. */
export function enterFolder(folder: string, shown: string, options: TaskOptions): void {
  const file = join(folder, "batch.json");
  if (!existsSync(file)) {
    const strange = existsSync(folder) && readdirSync(folder).some((name) => !name.startsWith("lock."));
    if (strange) throw new UsageError(`${shown} holds other files: name a new folder with --out`);
    makeOut(folder, shown);
    // The results may lie in the project: they are none of its files.
    writeFileSync(join(folder, ".gitignore"), "*\n");
    replaceFile(file, `${JSON.stringify({ version: 1, options: lasting(options) })}\n`);
    return;
  }
  const begun = JSON.parse(readFileSync(file, "utf8")) as Begun;
  const [was, is] = [begun.options, lasting(options)];
  for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const name = key as keyof TaskOptions;
    if (isDeepStrictEqual(was[name], is[name])) continue;
    const flag = `--${key.replaceAll("_", "-")}`;
    throw new UsageError(
      `${shown} was begun with ${optionText(flag, was[name])}, now it is ${optionText(flag, is[name])}: give the same, or another --out`,
    );
  }
}

function optionText(flag: string, value: unknown): string {
  return value === undefined ? `no ${flag}` : `${flag} ${Array.isArray(value) ? value.join(" ") : value}`;
}

/** Limits may be raised from one run to the next; what else changes would mix two batches. As JSON keeps it. */
function lasting({ max_turns: _, max_budget_usd: __, max_time: ___, ...options }: TaskOptions): TaskOptions {
  return JSON.parse(JSON.stringify(options)) as TaskOptions;
}

function replaceFile(file: string, text: string): void {
  const fd = openSync(`${file}.new`, "w", 0o600);
  writeSync(fd, text);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${file}.new`, file);
}

/** Folders of the runs of a task, inside the folder of the batch, oldest first. */
export function runsOf(folder: string, id: string): string[] {
  const place = join(folder, "tasks", id);
  const names = existsSync(place) ? readdirSync(place).filter((name) => /^run-\d+$/.test(name)) : [];
  return names.sort((a, b) => Number(a.slice(4)) - Number(b.slice(4))).map((name) => `tasks/${id}/${name}`);
}
