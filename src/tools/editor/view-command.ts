/** The command `view`: a text, an image or a folder. */

import { stat } from "node:fs/promises";
import type { ToolOutput } from "../../core/ports.ts";
import { pinFolder } from "../../disk/pinned-folder.ts";
import type { Call } from "./call.ts";
import { fileState } from "./file-watch.ts";
import { imageOf, isImage } from "./images/image.ts";
import { listingOf } from "./listing.ts";
import { isStillThere, remember } from "./seen.ts";
import { asText, readRaw } from "./text/text-file.ts";
import { binaryWords, viewOf } from "./text/view.ts";

const maxBytes = 30_000;

/** Runs `view`. Throws a Refusal or the system's error. */
export async function view(call: Call): Promise<ToolOutput> {
  const { path, input, memory, context } = call;
  const bytes = Math.max(1000, Math.min(maxBytes, context.budgetTokens * 4));
  const stats = { read: [path] };
  if ((await stat(path)).isDirectory()) {
    const folder = pinFolder(path);
    const listing = listingOf(folder.self(), input.path, bytes, context.signal);
    return { content: await listing.finally(() => folder.close()), stats };
  }
  const raw = await readRaw(path);
  const measured = { ...stats, bytes: raw.bytes.length };
  if (isImage(raw.bytes)) return { content: await imageOf(raw, input.path, context.signal), stats: measured };
  const binary = binaryWords(raw, input.path);
  if (binary) return { content: binary, stats: measured };
  const file = await asText(raw);
  const known = { ...measured, hash: fileState(raw.hash) };
  const range = JSON.stringify(input.view_range ?? null);
  const before = memory.get(path);
  const earlier = before?.hash === file.hash && before.views.find((viewing) => viewing.range === range);
  if (earlier && isStillThere(context.events, earlier.toolUseId))
    return {
      content: `${input.path} is unchanged: your earlier view of it above still holds.`,
      stats: known,
    };
  const seen = remember(memory, file, context.events.length, true);
  const made = viewOf(file, input.path, input.view_range, bytes);
  const others = seen.views.filter((viewing) => viewing.range !== range);
  seen.views = made.complete ? [...others, { range, toolUseId: context.toolUseId }] : others;
  return { content: made.text, stats: { ...known, lines: made.shown } };
}
