/** A thread of a replay: takes jobs one by one and answers each with its rows, or with what is wrong with the file. */

import { parentPort } from "node:worker_threads";
import { SessionError } from "../../session/errors.ts";
import { type Job, type JobResult, jobRunner } from "./run.ts";

export type Answer = JobResult | { problem: string };

const run = jobRunner();

parentPort?.on("message", (job: Job) => {
  parentPort?.postMessage(answer(job));
});

function answer(job: Job): Answer {
  try {
    return run(job);
  } catch (error) {
    if (error instanceof SessionError) return { problem: error.message };
    throw error;
  }
}
