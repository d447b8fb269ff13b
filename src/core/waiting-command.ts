/** A command that waits for somebody at its terminal: the port between the shell and a screen. Types only. */

export type TerminalSize = { columns: number; rows: number };

export type TerminalView = {
  /** The rows of the window down to the last that is not blank, without the blanks at their ends. */
  rows: string[];
  /** Where the cursor stands in the window. */
  cursor: { row: number; column: number };
  /** True when the program has the whole window for itself, as editors do. */
  alternate: boolean;
};

export type WaitingCommand = {
  command: string;
  /** The screen of its terminal as it is now. */
  view(): Promise<TerminalView>;
  /** Resolves when it can no longer be taken over: it ended, was stopped, was answered, or was given back. */
  over: Promise<void>;
  /**
   * Gives its terminal to a person: no time limit runs, and calls of the model wait, until it is over. Undefined when
   * it is over already. `onBytes` hears what programs print from now on.
   */
  take(size: TerminalSize, onBytes: (bytes: Uint8Array) => void): TakenTerminal | undefined;
};

/** Nothing that is typed here is kept anywhere; of what programs echo, the model sees what it would see otherwise. */
export type TakenTerminal = {
  /** Sends keys, as a terminal would. */
  write(bytes: string): void;
  resize(size: TerminalSize): void;
  /** The bytes that make a fresh terminal of the same size look and behave like this one. */
  replay(): Promise<string>;
  giveBack(): void;
};
