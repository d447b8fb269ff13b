/** Many recordings, on several threads. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { SessionError } from "../../session/errors.ts";
import { type Job, jobRunner, type ReplayRequest, type ReplayRow } from "./run.ts";
import type { Answer } from "./worker.ts";

export type JobsOptions = ReplayRequest & {
  files: readonly string[];
  /** Threads; 1 works in this one. */
  jobs: number;
  onProgress?: (done: number, all: number, label: string) => void;
};

export type Replays = {
  /** In the order of files, prices and contexts as asked for. */
  rows: ReplayRow[];
  /** One sentence each: files that could not be replayed, and what was left out of the others. */
  problems: string[];
  warnings: string[];
};

/** Replays every file under every stack at all prices. Throws only for a bug. */
export async function replayFiles(options: JobsOptions): Promise<Replays> {
  const { files, contexts, prices, jobs, onProgress } = options;
  const queue = jobsOf(options);
  const all = queue.length;
  const answers: Answer[] = [];
  const take = (answer: Answer, job: Job): void => {
    answers.push(answer);
    onProgress?.(answers.length, all, `${job.file} ${job.context}`);
  };
  if (jobs <= 1) await inThisThread(queue, take);
  else await Promise.all(Array.from({ length: Math.min(jobs, all) }, () => inWorker(queue, take)));
  const rows = answers.flatMap((answer) => ("rows" in answer ? answer.rows : []));
  const keyOf = ({ file, prices: price, context }: ReplayRow) =>
    (files.indexOf(file) * prices.length + prices.indexOf(price)) * contexts.length +
    contexts.indexOf(context);
  return {
    rows: rows.sort((a, b) => keyOf(a) - keyOf(b)),
    problems: distinct(answers.flatMap((answer) => ("problem" in answer ? [answer.problem] : []))),
    warnings: distinct(answers.flatMap((answer) => ("rows" in answer ? answer.warnings : []))),
  };
}

/** The files that the paths name: files as they are, folders searched for what may be a recording. Sorted. */
export function recordingsIn(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const kind = statSync(path, { throwIfNoEntry: false });
    if (!kind?.isDirectory()) return [path];
    const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
    return names.filter((name) => /\.(jsonl|traj|traj\.json)$/.test(name)).map((name) => join(path, name));
  });
}

/** Large files first, so that no thread is left with one at the end. */
function jobsOf({ files, contexts, prices, gaps, window }: JobsOptions): Job[] {
  const sizes = new Map(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.size ?? 0]));
  const sorted = files.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
  return sorted.flatMap((file) =>
    contexts.map((context) => ({ file, context, prices, gaps, ...(window === undefined ? {} : { window }) })),
  );
}

async function inThisThread(queue: Job[], take: (answer: Answer, job: Job) => void): Promise<void> {
  const run = jobRunner();
  for (let job = queue.shift(); job; job = queue.shift()) {
    try {
      take(run(job), job);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      take({ problem: error.message }, job);
    }
    // The screen and signals get their turn.
    await new Promise(setImmediate);
  }
}

/** Takes jobs from the common queue until it is empty. */
function inWorker(queue: Job[], take: (answer: Answer, job: Job) => void): Promise<void> {
  // Bundled, the worker is a file of its own beside this one.
  const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./replay-worker.js";
  // Strings die young here: a small nursery is as fast and takes half the memory.
  const resourceLimits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 512 };
  const worker = new Worker(new URL(file, import.meta.url), { resourceLimits });
  return new Promise((resolve, reject) => {
    let current: Job | undefined;
    const next = (): void => {
      current = queue.shift();
      if (current) worker.postMessage(current);
      else worker.terminate().then(() => resolve(), reject);
    };
    worker.on("message", (answer: Answer) => {
      if (current) take(answer, current);
      next();
    });
    worker.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ERR_WORKER_OUT_OF_MEMORY" || !current) return reject(error);
      take({ problem: `${current.file} needs more memory than a replay may take` }, current);
      inWorker(queue, take).then(resolve, reject);
    });
    next();
  });
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
