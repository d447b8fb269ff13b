/**
 * Detects files that changed since the model saw them: a change that matters is refused once, with the current lines.
 */

import type { Call } from "./call.ts";
import { clipped, Refusal } from "./refusal.ts";
import { remember, type Seen, staleOffset } from "./seen.ts";
import { changeBetween, linesNow } from "./text/diff.ts";
import { withLf } from "./text/line-endings.ts";
import { lineNumbers, linesOf, numbered } from "./text/lines.ts";
import type { TextFile } from "./text/text-file.ts";

/**
 * Returns true when the file changed since it was seen, but outside the places that hold one of `olds`. Otherwise
 * throws a Refusal.
 */
export async function refuseStaleEdit(call: Call, file: TextFile, olds: readonly string[]): Promise<boolean> {
  const known = changedSince(call, file);
  if (known?.text === undefined) return known !== undefined;
  for (const old of olds) {
    const now = withLf(file.text, file.endings);
    const at = staleOffset(known, now, withLf(old, file.endings), call.context.events);
    if (at !== undefined)
      throw await staleness(call, file, known.text, lineNumbers(known.text, [at])[0] ?? 1);
  }
  return true;
}

/** Returns true when the file changed since it was seen, but not next to line `after`. Otherwise throws a Refusal. */
export async function refuseStaleInsert(call: Call, file: TextFile, after: number): Promise<boolean> {
  const known = changedSince(call, file);
  if (known?.text === undefined) return known !== undefined;
  const [old, now] = [known.text.split("\n"), withLf(file.text, file.endings).split("\n")];
  if (old[after - 1] === now[after - 1] && old[after] === now[after]) return true;
  throw await staleness(call, file, known.text, Math.max(1, after));
}

/** Refuses to overwrite a file whose present content was not viewed. */
export async function refuseUnseen(call: Call, file: TextFile): Promise<void> {
  const { memory, input, context } = call;
  const known = memory.get(file.path);
  if (known?.viewed && known.hash === file.hash) return;
  remember(memory, file, context.events.length, true);
  const text = withLf(file.text, file.endings);
  if (known?.viewed && known.text !== undefined) {
    const { patch } = await changeBetween(input.path, known.text, text);
    throw new Refusal(
      `${input.path} has changed on disk since you last saw it. Nothing was written. If your text still holds, send it again. What changed:\n${clipped(patch, 1500)}`,
    );
  }
  const lines = linesOf(text);
  const head = numbered(lines, { first: 1, last: Math.min(10, lines.length) }, 1200).text;
  throw new Refusal(
    `${input.path} exists (${lines.length} lines) and you have not viewed it in this session. Nothing was written. View it first with {"command": "view", "path": ${JSON.stringify(input.path)}}, then change it with str_replace, or send this again to replace it whole. It begins:\n${head}`,
  );
}

/** Returns what was seen of the file, when that differs from its content now. */
function changedSince({ memory }: Call, file: TextFile): Seen | undefined {
  const known = memory.get(file.path);
  return known?.hash === file.hash ? undefined : known;
}

/** Words the refusal. `line` counts in `before`, the text the model saw. */
async function staleness(call: Call, file: TextFile, before: string, line: number): Promise<Refusal> {
  const { memory, input, context } = call;
  remember(memory, file, context.events.length, true);
  const text = withLf(file.text, file.endings);
  const { first, last } = linesNow(await changeBetween(input.path, before, text), line);
  const lines = linesOf(text);
  const now = { first: Math.min(first, Math.max(1, lines.length)), last: Math.min(last, lines.length) };
  const shown = numbered(lines, now, 1400).text;
  return new Refusal(
    `${input.path} has changed on disk since you last saw it, just there. Nothing was written. It reads now:\n${shown}\nIf your change still holds, send it again, with these lines in mind.`,
    now,
  );
}
