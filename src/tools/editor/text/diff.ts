/** The unified diff of a change, for people, and the changed regions, for the model. Fast even in large files. */

import type { StructuredPatch } from "diff";
import type { Lines } from "../refusal.ts";
import { lineNumbers, type Spot, visible } from "./lines.ts";

/** The lines of a hunk in both texts, including three lines of context. */
export type Region = { old: Lines; made: Lines };
/** A change. `first`: the first character of the new text that differs. */
export type Change = { patch: string; regions: Region[]; first: Spot };

const context = 3;
const maxLine = 400;
const maxBytes = 48_000;

/**
 * Compares two texts with LF. A change too large to be aligned quickly is reported as one hunk that replaces
 * everything.
 */
export async function changeBetween(
  path: string,
  before: string | undefined,
  after: string,
): Promise<Change> {
  const old = before ?? "";
  const { head, tail, linesBefore, first } = common(old, after);
  const patch = await patchOf(old.slice(head, old.length - tail), after.slice(head, after.length - tail));
  for (const hunk of patch.hunks) {
    hunk.oldStart += linesBefore;
    hunk.newStart += linesBefore;
  }
  const regions = patch.hunks.map(({ oldStart, oldLines, newStart, newLines }) => ({
    old: { first: oldStart, last: oldStart + Math.max(oldLines, 1) - 1 },
    made: { first: newStart, last: newStart + Math.max(newLines, 1) - 1 },
  }));
  return { patch: spelled(path, before === undefined, patch), regions, first };
}

/** Returns the lines of the new text in which to look for an old line: its hunk, or itself and its neighbours. */
export function linesNow({ regions }: Change, line: number): Lines {
  const hunk = regions.find(({ old }) => old.first <= line && line <= old.last);
  if (hunk) return hunk.made;
  const above = regions.findLast(({ old }) => old.last < line);
  const now = line + (above ? above.made.last - above.old.last : 0);
  return { first: Math.max(1, now - context), last: now + context };
}

type Common = { head: number; tail: number; linesBefore: number; first: Spot };

/**
 * Returns the common beginning and end of both texts: whole lines, all but `context` of them. Lengths in characters.
 */
function common(old: string, after: string): Common {
  const most = Math.min(old.length, after.length);
  let differs = 0;
  while (differs < most && old.charCodeAt(differs) === after.charCodeAt(differs)) differs += 1;
  let tail = 0;
  while (
    tail < most - differs &&
    old.charCodeAt(old.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  )
    tail += 1;
  let head = differs;
  for (let line = 0; line <= context && head > 0; line++) head = lineStart(old, head - +(line > 0));
  let end = old.length - tail;
  for (let line = 0; line <= context && end < old.length; line++) {
    const next = old.indexOf("\n", end);
    end = next < 0 ? old.length : next + 1;
  }
  const [linesBefore = 1, line = 1] = lineNumbers(old, [head, differs]);
  const first = { line, column: differs - lineStart(old, differs) + 1 };
  return { head, tail: old.length - end, linesBefore: linesBefore - 1, first };
}

function lineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

async function patchOf(old: string, after: string): Promise<StructuredPatch> {
  const { structuredPatch } = await import("diff");
  const options = { context, maxEditLength: 4000, timeout: 300 };
  const patch = structuredPatch("", "", old, after, undefined, undefined, options);
  if (patch) return patch;
  const lines = (sign: string, text: string) =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => sign + line);
  const [removed, added] = [lines("-", old), lines("+", after)];
  const hunk = { oldStart: 1, oldLines: removed.length, newStart: 1, newLines: added.length };
  return {
    oldFileName: "",
    newFileName: "",
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [{ ...hunk, lines: [...removed, ...added] }],
  };
}

function spelled(path: string, isNew: boolean, { hunks }: StructuredPatch): string {
  const name = path.replace(/^\//, "");
  const made = [isNew ? "--- /dev/null" : `--- a/${name}`, `+++ b/${name}`];
  let bytes = 0;
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    // Unified diffs name the line before an empty side.
    made.push(
      `@@ -${oldStart - +(oldLines === 0)},${oldLines} +${newStart - +(newLines === 0)},${newLines} @@`,
    );
    for (const line of lines) {
      const short = visible(line.length > maxLine ? `${line.slice(0, maxLine)}…` : line);
      bytes += Buffer.byteLength(short);
      if (bytes > maxBytes) return [...made, "[the rest of this diff is left out]"].join("\n");
      made.push(short);
    }
  }
  return made.join("\n");
}
