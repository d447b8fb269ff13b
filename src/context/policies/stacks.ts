/** The policy stacks that `--context` names. Pure. */

import { economistPolicy } from "./economist.ts";
import { fallbackPolicy } from "./fallback.ts";
import { focusAtTopPolicy, focusPolicy } from "./focus.ts";
import { maskingPolicy } from "./masking.ts";
import { offloadPolicy } from "./offload.ts";
import { offloadInputsPolicy } from "./offload-inputs.ts";
import type { Policy } from "./policy.ts";
import { presetNames, readSetting } from "./settings.ts";
import { stepLinesPolicy } from "./step-lines.ts";
import { lastResortPolicy, summaryPolicy } from "./summary.ts";
import { supersedePolicy } from "./supersede.ts";
import { turnsPolicy } from "./turns.ts";

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
  turns: stack([focusPolicy, turnsPolicy, ...never], { folds: true, masks: true }),
  masking: stack([maskingPolicy, ...never], { masks: true }),
  "step-lines": stack([stepLinesPolicy, ...never], { masks: true }),
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

const presetStacks: readonly string[] = contextNames.filter((name) => stackNamed(name).masks);

export type NamedStack = { context: string; engine: Record<string, number> };

/**
 * Reads a stack's name: `masking`, with a preset `masking:short`, or with settings of the engine `economist:caution=8`.
 * Returns the reason where it is none.
 */
export function readStack(words: string): NamedStack | { problem: string } {
  const [context = "", ...settings] = words.split(":");
  if (!contextNames.includes(context)) return { problem: `must be ${contextChoices}` };
  let engine: Record<string, number> = {};
  for (const setting of settings) {
    if (presetNames.includes(setting) && !presetStacks.includes(context))
      return { problem: `:${setting} has no effect on ${context}, which masks nothing` };
    const read = readSetting(setting);
    if ("problem" in read) return read;
    const [twice] = Object.keys(read.engine).filter((name) => name in engine);
    if (twice !== undefined) return { problem: `sets ${twice} twice` };
    engine = { ...engine, ...read.engine };
  }
  return { context, engine };
}

/** All names that `readStack` takes, with each preset. */
export const stackWords: readonly string[] = contextNames.flatMap((name) => [
  name,
  ...(presetStacks.includes(name) ? presetNames.map((preset) => `${name}:${preset}`) : []),
]);

/** The names that `readStack` takes, in words. */
const contextChoices = `one of ${contextNames.join(", ")}; ${presetStacks.join(", ")} also with ${presetNames
  .map((preset) => `:${preset}`)
  .join(", ")}`;
