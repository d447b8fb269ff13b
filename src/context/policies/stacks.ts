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

/** Policies that end all stacks but `raw` and `ingest`, so that a session never overflows. */
const never = [fallbackPolicy, lastResortPolicy];

/** A policy stack and its properties, for code that must know more than its name. */
export type Stack = {
  policies: Policy[];
  /** Folds closed focuses: only then is the model told to use them. */
  folds: boolean;
  /** Masks old observations. */
  masks: boolean;
  /** Keeps knowledge in a block of the first message. */
  knowledgeFirst: boolean;
  /** Shortens each result to its budget before it is first sent. */
  truncates: boolean;
};

type Properties = Partial<Omit<Stack, "policies">>;

function stack(policies: Policy[], properties: Properties = {}): Stack {
  return { policies, folds: false, masks: false, knowledgeFirst: false, truncates: true, ...properties };
}

const stacks: Record<string, Stack> = {
  economist: stack([focusPolicy, economistPolicy, ...never], { folds: true, masks: true }),
  // The baseline for all policies: results up to the hard limits.
  raw: stack([], { truncates: false }),
  masking: stack([maskingPolicy, ...never], { masks: true }),
  summary: stack([summaryPolicy("summary"), ...never]),
  hybrid: stack([maskingPolicy, summaryPolicy("hybrid"), ...never], { masks: true }),
  focus: stack([focusPolicy, ...never], { folds: true }),
  "focus-top": stack([focusAtTopPolicy, ...never], { folds: true, knowledgeFirst: true }),
  supersede: stack([supersedePolicy, ...never]),
  offload: stack([offloadPolicy, ...never]),
  "offload-inputs": stack([offloadInputsPolicy, ...never]),
  fallback: stack(never),
  // Only the shortening of each result before it is first sent.
  ingest: stack([]),
};

/** Names that `--context` takes, the default first. */
export const contextNames: readonly string[] = Object.keys(stacks);

/** Returns the stack of this name; one without policies for an unknown name. */
export function stackNamed(name: string): Stack {
  return stacks[name] ?? stack([]);
}

/** The policies of a named stack; undefined for an unknown name. */
export function policyStack(name: string): Policy[] | undefined {
  return stacks[name]?.policies;
}

/** Effective turns whose observations stay, by the length of sessions that they suit (context-engine §3). */
const maskPresets: Readonly<Record<string, number>> = { short: 5, medium: 10, long: 18 };
const presetStacks: readonly string[] = contextNames.filter((name) => stackNamed(name).masks);

/** Parses a stack name: `masking`, or with a preset `masking:short`, which changes a setting of the engine. */
export function namedStack(words: string): { context: string; engine: { maskKeep?: number } } | undefined {
  const [context = "", ...presets] = words.split(":");
  if (!contextNames.includes(context)) return undefined;
  if (presets.length === 0) return { context, engine: {} };
  const maskKeep = presets.length === 1 ? maskPresets[presets[0] ?? ""] : undefined;
  return maskKeep === undefined || !presetStacks.includes(context)
    ? undefined
    : { context, engine: { maskKeep } };
}

/** The names that `namedStack` takes, in words. */
export const contextChoices = `one of ${contextNames.join(", ")}; ${presetStacks.join(", ")} also with ${Object.keys(
  maskPresets,
)
  .map((preset) => `:${preset}`)
  .join(", ")}`;
