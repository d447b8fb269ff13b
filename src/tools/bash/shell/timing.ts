/** How long the shell waits for what may never come. */

/** All in milliseconds. */
export type ShellTiming = {
  /** From SIGINT to SIGKILL for a command that has to end, by the reason. */
  stop: { timeout: number; interrupted: number; too_large: number; waiting: number };
  /** From SIGTERM to SIGKILL for what is left when the session ends, and for leftovers of a killed agent. */
  terminate: number;
  /** The same for a background job that is stopped. */
  stopJob: number;
  /** For the shell itself to end when its input has ended. */
  hangUp: number;
  /** For the shell to answer after a command was stopped. */
  settle: number;
  /** Silence after which a process that reads the terminal is taken to wait for a person. */
  readSilence: number;
  /** The same for one that waits for the terminal or for something else. */
  waitSilence: number;
};

export const usualTiming: ShellTiming = {
  stop: { timeout: 1000, interrupted: 300, too_large: 100, waiting: 300 },
  terminate: 500,
  stopJob: 1000,
  hangUp: 300,
  settle: 1000,
  readSilence: 700,
  waitSilence: 4000,
};
