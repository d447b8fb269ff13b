/** Observation masking (The Complexity Trap, arXiv 2508.21433): old results become placeholders. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { eventAt } from "../../core/questions.ts";
import { placeholder } from "../view/placeholder.ts";
import { textTokens } from "../view/tokens.ts";
import { keptFrom, turnsIn } from "../view/turns.ts";
import type { Entry } from "../view/view.ts";
import { type Candidate, editImmediately, type Policy } from "./policy.ts";
import type { PolicyInput } from "./policy-input.ts";

/** Masks as published: as soon as `maskBatch` turns are older than the newest `maskKeep`. */
export const maskingPolicy: Policy = {
  name: "masking",
  plan(snapshot) {
    const { maskKeep, maskBatch } = snapshot.settings;
    const candidates = maskCandidates(snapshot, maskKeep);
    const indexes = candidates.map(({ index }) => index);
    const turns = turnsIn(snapshot).filter(({ index, results }) =>
      indexes.some((at) => at > index && at <= index + results.length),
    );
    if (turns.length < maskBatch) return {};
    return editImmediately(
      "masking",
      `observations older than the newest ${maskKeep} turns`,
      candidates,
      snapshot,
    );
  },
};

/** Lists observations of turns older than the newest `keep` effective ones; never the session's first observation. */
export function maskCandidates(snapshot: PolicyInput, keep: number): Candidate[] {
  const turns = turnsIn(snapshot);
  const first = turns[0]?.results[0];
  return turns
    .slice(0, keptFrom(turns, Math.max(1, keep)))
    .flatMap((turn) =>
      turn.results.flatMap((entry) => (entry === first ? [] : maskOf(entry, snapshot, turn.index))),
    );
}

/**
 * The edit that masks one observation; none when it was edited before, is an instruction or would not get shorter. `from`: an index at
 * or before the entry's, so that it need not be looked for from the start.
 */
export function maskOf(
  entry: Entry,
  { events, view }: Pick<PolicyInput, "events" | "view">,
  from = 0,
): Candidate[] {
  if (entry.edited || entry.standing) return [];
  const event = eventAt(events, entry.seq);
  if (event?.type !== "tool_result") return [];
  const { text, tokens } = placeholders.get(event) ?? placeholderOf(event, events);
  const removes = entry.tokens - tokens - 12;
  const index = view.entries.indexOf(entry, from);
  return removes > 0 ? [{ edit: { type: "replace", seq: entry.seq, block: 0, text }, index, removes }] : [];
}

/** Placeholders with their tokens, made once: every step of a long session asks for them. */
const placeholders = new WeakMap<LogEvent, { text: string; tokens: number }>();

function placeholderOf(event: EventOf<"tool_result">, events: readonly LogEvent[]) {
  const text = placeholder(event, events);
  const made = { text, tokens: textTokens(text) };
  placeholders.set(event, made);
  return made;
}
