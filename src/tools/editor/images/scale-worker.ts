/** The thread that scales one image: a decoder's error, however it is thrown, ends only this thread. */

import { parentPort, workerData } from "node:worker_threads";
import { scaled } from "./scale.ts";

export type ScaleRequest = {
  bytes: Uint8Array;
  kind: "png" | "jpeg";
  /** Upper limits: `side` in pixels, `bytes` of the outcome. */
  limits: { side: number; bytes: number };
};

const { bytes, kind, limits } = workerData as ScaleRequest;
// A decoder that never comes back leaves the thread with nothing to do: it ends without an answer.
void scaled(Buffer.from(bytes), kind, limits).then((image) => parentPort?.postMessage(image));
