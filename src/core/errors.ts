/** Errors that the user can fix, and the exit code that each carries. Pure. */

/** A mistake of the caller: one line that says what is wrong and what to do. Exit code 2. */
export class UsageError extends Error {
  readonly exitCode = 2;
}

/** The value of an option, a setting or a variable cannot be used. `message`: subject and problem. */
export class ValueError extends UsageError {
  /** The option or variable that has the value: `--max-turns`. */
  readonly subject: string;
  /** The value and what it must be, without the name: `abc: must be a whole number above 0`. */
  readonly problem: string;
  constructor(subject: string, problem: string) {
    super(`${subject} ${problem}`);
    this.subject = subject;
    this.problem = problem;
  }
}

/** Something outside the user's command line is missing; `exitCode` as design §5. */
export class StartError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** No model can be used as things stand: a person at a terminal chooses one instead. */
export class NoModel extends StartError {
  /** The provider of the model that was named, which lacks a key; undefined when none was named. */
  readonly provider: string | undefined;
  constructor(message: string, exitCode: number, provider?: string) {
    super(message, exitCode);
    this.provider = provider;
  }
}

/** Returns the exit code of an error that the user can fix; undefined for a bug, which crashes. */
export function exitCodeOf(error: unknown): number | undefined {
  return error instanceof Error && "exitCode" in error && typeof error.exitCode === "number"
    ? error.exitCode
    : undefined;
}
