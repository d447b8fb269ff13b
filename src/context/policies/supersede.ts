/** Finds observations made stale by later ones: old reads of a changed or re-read file, repeated commands. Pure. */

import type { ToolUseBlock } from "../../core/blocks.ts";
import { touchesOf } from "../../core/tool-calls.ts";
import { signatureOf, turnsIn } from "../view/turns.ts";
import type { Entry } from "../view/view.ts";
import { maskOf } from "./masking.ts";
import { type Candidate, editImmediately, type Policy } from "./policy.ts";
import { newestStep, type PolicyInput } from "./policy-input.ts";

/** Effects of later calls, gathered from the newest turn backwards. */
type Later = { calls: Set<string>; written: Set<string>; viewed: Set<string> };

export const supersedePolicy: Policy = {
  name: "supersede",
  plan: (snapshot) =>
    editImmediately(
      "supersede",
      "observations that a later one made stale",
      supersedeCandidates(snapshot),
      snapshot,
    ),
};

export function supersedeCandidates(snapshot: PolicyInput): Candidate[] {
  const newest = newestStep(snapshot.view);
  const later: Later = { calls: new Set(), written: new Set(), viewed: new Set() };
  const found: Candidate[] = [];
  for (const turn of turnsIn(snapshot).toReversed()) {
    for (const entry of turn.index < newest ? turn.results : []) {
      const block = entry.blocks[0];
      const call = turn.calls.find(({ id }) => block?.type === "tool_result" && block.tool_use_id === id);
      if (call && isStale(call, later)) found.push(...maskOf(entry, snapshot, turn.index));
    }
    const failed = new Set(turn.results.flatMap(failedCall));
    for (const call of turn.calls) if (!failed.has(call.id)) note(call, later);
  }
  return found.sort((a, b) => a.index - b.index);
}

/** Returns the id of a failed call, which changed and showed nothing. */
function failedCall(entry: Entry): string[] {
  const block = entry.blocks[0];
  return block?.type === "tool_result" && block.is_error ? [block.tool_use_id] : [];
}

function isStale(call: ToolUseBlock, later: Later): boolean {
  if (later.calls.has(signatureOf(call))) return true;
  const { kind, paths } = touchesOf(call);
  return kind === "reads" && paths.some((path) => later.written.has(path) || later.viewed.has(path));
}

function note(call: ToolUseBlock, later: Later): void {
  const { kind, paths } = touchesOf(call);
  const isPart = (call.input as { view_range?: unknown } | null)?.view_range !== undefined;
  for (const path of paths) {
    if (kind === "writes") later.written.add(path);
    else if (kind === "reads" && !isPart) later.viewed.add(path);
  }
  later.calls.add(signatureOf(call));
}
