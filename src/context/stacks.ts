/** The policy stacks that `--context` names. Pure. */

import { economistPolicy } from "./economist.ts";
import { fallbackPolicy } from "./fallback.ts";
import { focusAtTopPolicy, focusPolicy } from "./focus.ts";
import { maskingPolicy } from "./masking.ts";
import { offloadPolicy } from "./offload.ts";
import { offloadInputsPolicy } from "./offload-inputs.ts";
import type { Policy } from "./policy.ts";
import { lastResortPolicy, summaryPolicy } from "./summary.ts";
import { supersedePolicy } from "./supersede.ts";

/** All stacks but `raw` and `ingest` end in what keeps a session from overflowing. */
const never = [fallbackPolicy, lastResortPolicy];

const stacks: Record<string, Policy[]> = {
  economist: [focusPolicy, economistPolicy, ...never],
  raw: [],
  masking: [maskingPolicy, ...never],
  summary: [summaryPolicy("summary"), ...never],
  hybrid: [maskingPolicy, summaryPolicy("hybrid"), ...never],
  focus: [focusPolicy, ...never],
  "focus-top": [focusAtTopPolicy, ...never],
  supersede: [supersedePolicy, ...never],
  offload: [offloadPolicy, ...never],
  "offload-inputs": [offloadInputsPolicy, ...never],
  fallback: never,
  // Nothing but what is done to every result before it is first sent.
  ingest: [],
};

/** Names that `--context` takes, the default first. */
export const contextNames: readonly string[] = Object.keys(stacks);

/** The policies of a named stack; undefined for an unknown name. */
export function policyStack(name: string): Policy[] | undefined {
  return stacks[name];
}

/** Effective turns whose observations stay, by the length of sessions that they suit (context-engine §3). */
const maskPresets: Readonly<Record<string, number>> = { short: 5, medium: 10, long: 18 };
/** The stacks that mask. */
const presetStacks: readonly string[] = ["masking", "hybrid", "economist"];

/** A stack as people name it: `masking`, or with a preset `masking:short`, which sets a number of the engine. */
export function namedStack(words: string): { context: string; engine: { maskKeep?: number } } | undefined {
  const [context = "", ...presets] = words.split(":");
  if (!contextNames.includes(context)) return undefined;
  if (presets.length === 0) return { context, engine: {} };
  const maskKeep = presets.length === 1 ? maskPresets[presets[0] ?? ""] : undefined;
  return maskKeep === undefined || !presetStacks.includes(context)
    ? undefined
    : { context, engine: { maskKeep } };
}

/** What `namedStack` takes, in words. */
export const contextChoices = `one of ${contextNames.join(", ")}; ${presetStacks.join(", ")} also with ${Object.keys(
  maskPresets,
)
  .map((preset) => `:${preset}`)
  .join(", ")}`;

/** Whether one of the policies folds what a focus closes: only then is the model told to use focuses. */
export function foldsFocuses(policies: readonly Policy[]): boolean {
  return policies.some(({ name }) => name.startsWith("focus"));
}
