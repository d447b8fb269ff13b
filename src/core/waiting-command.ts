/** A command that waits for input at its terminal: the port between the shell and a screen. Types only. */

export type TerminalSize = { columns: number; rows: number };

export type TerminalView = {
  /** The rows of the window down to the last that is not blank, without trailing blanks. */
  rows: string[];
  /** Position of the cursor in the window. */
  cursor: { row: number; column: number };
  /** True when the program uses the whole window, as editors do. */
  alternate: boolean;
};

export type WaitingCommand = {
  command: string;
  /** The screen of its terminal as it is now. */
  view(): Promise<TerminalView>;
  /** Resolves when it can no longer be taken over: it ended, was stopped or answered, or was given back. */
  over: Promise<void>;
  /**
   * Hands its terminal to a person: until it is over, no time limit runs and calls of the model wait. Undefined when
   * it is already over. `onBytes` receives what programs print from now on.
   */
  take(size: TerminalSize, onBytes: (bytes: Uint8Array) => void): TakenTerminal | undefined;
};

/** A terminal in a person's hands. Typed text is not recorded; the model sees output as usual, echo included. */
export type TakenTerminal = {
  /** Sends keys, as a terminal would. */
  write(bytes: string): void;
  resize(size: TerminalSize): void;
  /** Returns the bytes that bring a fresh terminal of the same size to the state of this one. */
  replay(): Promise<string>;
  giveBack(): void;
};
