/** Scales images on a separate thread: the screen stays responsive, and no decoder fault ends the process. */

import { onThread } from "../../on-thread.ts";
import type { ScaledImage } from "./scale.ts";
import type { ScaleRequest } from "./scale-worker.ts";

/** An image of 40 megapixels takes about 5 s. */
const timeoutMs = 60_000;

/**
 * Scales an image. Rejects when the data cannot be decoded, takes too long or too much memory, or the signal is
 * aborted.
 */
export function scaledOnThread(request: ScaleRequest, signal: AbortSignal): Promise<ScaledImage> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  // Pixels lie outside the heap; growth inside it means a decoder gone wrong.
  return onThread(["scale-worker", import.meta.url], request, { signal: limit, heapMb: 512 });
}
