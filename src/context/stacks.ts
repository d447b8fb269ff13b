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

/** Whether one of the policies folds what a focus closes: only then is the model told to use focuses. */
export function foldsFocuses(policies: readonly Policy[]): boolean {
  return policies.some(({ name }) => name.startsWith("focus"));
}
