/** The engine's settings, with the published defaults (context-engine §3 to §6). Pure. */

import { similar } from "../../core/text/nearest.ts";

export type EngineSettings = {
  /** Soft window in tokens, when the user set one. */
  window?: number;
  /** Effective turns whose observations stay (M of The Complexity Trap). */
  maskKeep: number;
  /** Turns that must be maskable before masking alone masks them; 1 is rolling, as published. */
  maskBatch: number;
  /** Steps older than the kept turns at which `step-lines` turns them into lines, all at once. */
  lineBlock: number;
  /** Unsummarised turns beyond the kept ones at which `summary` summarises (N). */
  summaryTurns: number;
  /** The same for `hybrid`, whose first defence is masking. */
  hybridTurns: number;
  /** Newest turns that a summary leaves out (M). */
  summaryKeep: number;
  /** Share of the soft window at which edits are due at any cost. */
  pressure: number;
  /** Share of the soft window that the fallback trims down to. */
  target: number;
  /** Share of the soft window at which old editor inputs become pointers. */
  inputsAt: number;
  /** A tool result above this many tokens becomes its path and a preview. */
  offloadTokens: number;
  /** Tokens that one result may cost, and the share of what is left of the soft window. */
  resultTokens: number;
  resultShare: number;
  /** Tokens of one result under `raw`: 30 KB. */
  rawTokens: number;
  /** Fewest tokens that the economist flushes, unless forced. */
  minFlush: number;
  /** How many times its cost a re-read counts when the economist weighs what forgetting saves. */
  caution: number;
  /** In the stack `turns`, share of the break-even for an early flush, if the session's length predicts that it pays; 1: never. */
  earlyShare: number;
  /** The economist leaves sessions below both alone, unless forced. */
  quietSteps: number;
  quietTokens: number;
  /** Calls without a fold after which the model is reminded to focus; 0: never. */
  focusReminder: number;
  /** Steps after which the task list is recited again, and between two routine reminders that stay. */
  reciteSteps: number;
};

export const defaultSettings: EngineSettings = {
  maskKeep: 10,
  maskBatch: 1,
  lineBlock: 20,
  summaryTurns: 21,
  hybridTurns: 43,
  summaryKeep: 10,
  pressure: 0.9,
  target: 0.35,
  inputsAt: 0.85,
  offloadTokens: 20_000,
  resultTokens: 8_000,
  resultShare: 0.1,
  rawTokens: 7_500,
  minFlush: 5_000,
  caution: 7,
  earlyShare: 0.5,
  quietSteps: 30,
  quietTokens: 60_000,
  focusReminder: 15,
  reciteSteps: 8,
};

const names = [...Object.keys(defaultSettings), "window"];
const shares = ["pressure", "target", "inputsAt", "resultShare", "earlyShare"];

/** Returns the reason why these settings are invalid, with the range of the setting; undefined for valid ones. */
export function engineProblem(values: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(values)) {
    const problem = settingProblem(name, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function settingProblem(name: string, value: unknown): string | undefined {
  if (!names.includes(name)) {
    const meant = similar(name, names);
    return `${name} is not known: ${meant ? `did you mean ${meant}?` : `use ${names.join(", ")}`}`;
  }
  const [most, range] = shares.includes(name)
    ? [1, "a share from 0 to 1"]
    : [Number.MAX_VALUE, "a number of at least 0"];
  const fits = typeof value === "number" && value >= 0 && value <= most;
  return fits ? undefined : `${name} must be ${range}, not ${JSON.stringify(value)}`;
}

/** Effective turns whose observations stay, by the length of sessions that they suit (context-engine §3). */
const maskPresets: Readonly<Record<string, number>> = { short: 5, medium: 10, long: 18 };
export const presetNames: readonly string[] = Object.keys(maskPresets);

/** Reads `short`, a preset, or `caution=8`; returns the setting, or the reason why it is none. */
export function readSetting(text: string): { engine: Record<string, number> } | { problem: string } {
  const preset = maskPresets[text];
  if (preset !== undefined) return { engine: { maskKeep: preset } };
  const [name = "", value] = text.split(/=(.*)/s);
  if (value === undefined && !names.includes(name)) {
    const presets = presetNames.map((each) => `:${each}`).join(", ");
    return { problem: `after a policy stands one of ${presets}, or a setting such as :caution=8` };
  }
  const number = /^\d*\.?\d+$/.test(value ?? "") ? Number(value) : value;
  const problem = settingProblem(name, number ?? "");
  return problem === undefined ? { engine: { [name]: Number(number) } } : { problem };
}
