/** The engine's settings, with the published defaults (context-engine §3 to §6). Pure. */

export type EngineSettings = {
  /** Soft window in tokens, when the user set one. */
  window?: number;
  /** Effective turns whose observations stay (M of The Complexity Trap). */
  maskKeep: number;
  /** Turns that must be maskable before masking alone masks them; 1 is rolling, as published. */
  maskBatch: number;
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
  /** Share of the break-even for an early flush, if the session's length predicts that it pays; 1: never. */
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
  earlyShare: 0.5,
  quietSteps: 30,
  quietTokens: 60_000,
  focusReminder: 15,
  reciteSteps: 8,
};

const shares = ["pressure", "target", "inputsAt", "resultShare", "earlyShare"];

/** Returns the reason why these settings are invalid; undefined for valid ones. */
export function engineProblem(numbers: Readonly<Record<string, number>>): string | undefined {
  const names = [...Object.keys(defaultSettings), "window"];
  for (const [name, value] of Object.entries(numbers)) {
    if (!names.includes(name)) return `${name} is not known: use ${names.join(", ")}`;
    if (shares.includes(name) && value > 1) return `${name} must be a share from 0 to 1, not ${value}`;
  }
  return undefined;
}
