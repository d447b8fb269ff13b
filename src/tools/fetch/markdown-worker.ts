/** A thread that converts one page to Markdown; its answer is the text. */

import { parentPort, workerData } from "node:worker_threads";
import { markdownOf } from "./markdown.ts";

/** `url`: what relative links start from. */
export type MarkdownRequest = { html: string; url: string };

const { html, url } = workerData as MarkdownRequest;
parentPort?.postMessage(await markdownOf(html, url));
