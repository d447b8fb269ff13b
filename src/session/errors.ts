/** Errors of opening a session: sentences for the user, each with the remedy. */

import { type Holder, inWords } from "../disk/claim.ts";

/** Thrown when there is no such session, the id is ambiguous, or the log cannot be read. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly exitCode = 2;
}

/** Thrown when another live process writes this session. */
export class SessionLocked extends Error {
  override readonly name = "SessionLocked";
  readonly exitCode = 2;

  constructor(id: string, holder: Holder) {
    super(
      `session ${id} is in use by ${inWords(holder)}: branch from it with --fork, or end that process first`,
    );
  }
}

/** Returns true for an error of the operating system (as opposed to a bug of ours). */
export function isErrno(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "errno" in error;
}
