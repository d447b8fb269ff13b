/** Runs a file on a thread of its own: the screen stays responsive, and a fault there does not end the process. */

import { Worker } from "node:worker_threads";

/** `heapMb`: most memory of its heap, in MB. */
export type ThreadOptions = { signal: AbortSignal; heapMb: number };

/**
 * Starts a thread and returns its first message. `name`: its file, without extension, beside the module at `from`; in the
 * bundle it is a file of its own too. Rejects when it fails, takes too much memory, or the signal is aborted.
 */
export function onThread<Result>(
  [name, from]: readonly [name: string, from: string],
  workerData: unknown,
  { signal, heapMb }: ThreadOptions,
): Promise<Result> {
  const worker = new Worker(new URL(`./${name}.${from.endsWith(".ts") ? "ts" : "js"}`, from), {
    workerData,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    stdout: true,
    stderr: true,
  });
  return new Promise<Result>((resolve, reject) => {
    worker.on("message", resolve).on("messageerror", reject).on("error", reject);
    worker.on("exit", () => reject(new Error("the thread ended without a result")));
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  }).finally(() => void worker.terminate());
}
