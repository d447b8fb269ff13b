/** Time limits on the shell's waits. */

/** All in milliseconds. */
export type ShellTiming = {
  /** From SIGINT to SIGKILL for a command that has to end, by the reason. */
  stop: { timeout: number; interrupted: number; too_large: number; waiting: number };
  /** From SIGTERM to SIGKILL for processes left at the end of the session, and for orphans of a killed agent. */
  terminate: number;
  /** From SIGTERM to SIGKILL for a background job that is stopped. */
  stopJob: number;
  /** For what a command started and does not wait for to end, or to become the program that it is for. */
  begin: number;
  /** For the shell to exit once its input has ended. */
  hangUp: number;
  /** For the shell to answer after a command was stopped: long enough for one that waits for a busy processor. */
  settle: number;
  /** For the shell to start, or to start a job: a job of its own may hold it up with a pipe in place of a file. */
  answer: number;
  /** Silence after which a process that reads the terminal counts as waiting for a person. */
  readSilence: number;
  /** The same for a process that waits for the terminal or for something else. */
  waitSilence: number;
};

export const usualTiming: ShellTiming = {
  stop: { timeout: 1000, interrupted: 300, too_large: 100, waiting: 300 },
  terminate: 500,
  stopJob: 1000,
  begin: 125,
  hangUp: 300,
  settle: 5000,
  answer: 30_000,
  readSilence: 700,
  waitSilence: 4000,
};
