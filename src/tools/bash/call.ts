/** A call of the `bash` tool: its input, and what runs it. */

import type { ToolContext } from "../../core/ports.ts";
import type { OutsideShell } from "./outside.ts";
import type { Shell } from "./shell/shell.ts";

/** The tool's side of a sandbox. */
export type CommandSandbox = {
  /** Returns true while the shell is in a sandbox. */
  isOn(): boolean;
  /** Runs single commands outside of it. */
  outside: OutsideShell;
  /** Looks at what an ended command left behind and was refused. Returns notes for the model. */
  after(ended: { command: string; output: string; cwd: string }): Promise<string[]>;
};

/** The input of a call. */
export type Input = {
  command?: string;
  timeout_s?: number;
  stdin?: string;
  background?: boolean;
  tty?: boolean;
  restart?: boolean;
  want?: string;
  outside?: boolean;
  reason?: string;
};

/** A call as it is run. `seconds`: its time limit. */
export type Call = {
  request: Input;
  context: ToolContext;
  shell: Shell;
  seconds: number;
  sandbox: CommandSandbox | undefined;
};
