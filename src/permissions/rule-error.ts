/** The error for an invalid rule. */

/** Thrown for a rule that cannot be parsed. The message says what is wrong and how to write it. */
export class RuleError extends Error {
  override readonly name = "RuleError";
  readonly exitCode = 2;
}
