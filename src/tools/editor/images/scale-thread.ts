/** Scales images on a separate thread: the screen stays responsive, and no decoder fault ends the process. */

import { Worker } from "node:worker_threads";
import type { ScaledImage } from "./scale.ts";
import type { ScaleRequest } from "./scale-worker.ts";

/** An image of 40 megapixels takes about 5 s. */
const timeoutMs = 60_000;

/**
 * Scales an image. Rejects when the data cannot be decoded, takes too long or too much memory, or the signal is
 * aborted.
 */
export function scaledOnThread(request: ScaleRequest, signal: AbortSignal): Promise<ScaledImage> {
  // In the bundle the worker is a separate file beside this one.
  const file = import.meta.url.endsWith(".ts") ? "./scale-worker.ts" : "./scale-worker.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: request,
    env: {},
    // Pixels lie outside the heap; growth inside it means a decoder gone wrong.
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    stdout: true,
    stderr: true,
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  return new Promise<ScaledImage>((resolve, reject) => {
    worker.on("message", resolve).on("messageerror", reject).on("error", reject);
    worker.on("exit", () => reject(new Error("the thread ended without an image")));
    limit.addEventListener("abort", () => reject(limit.reason), { once: true });
    if (limit.aborted) reject(limit.reason);
  }).finally(() => void worker.terminate());
}
