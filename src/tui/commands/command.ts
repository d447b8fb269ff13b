/** A slash command and its access to the screen and the session: types, and shared texts. */

import type { UserBlock } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import type { Host, Leave } from "../ports/session.ts";
import type { PickRequest } from "../ports/sessions.ts";
import type { Row } from "../rows/rows.ts";

export type CommandContext = {
  host: Host;
  /** The commands of this session. */
  commands: readonly Command[];
  events: readonly LogEvent[];
  columns: number;
  /** True while a turn is running. */
  busy: boolean;
  print(rows: Row[]): void;
  /** Shows one line that disappears with the next key. */
  notice(text: string): void;
  leave(exit: Leave): void;
  /** Lets the user choose from a list; undefined when nothing was chosen. */
  pick(request: PickRequest): Promise<string | undefined>;
  /** Sends a text to the model: now, or at the next step. */
  say(text: string): void;
  /** Sends words that the user did not write, as `say` does. */
  send(content: UserBlock[]): void;
  /** Resolves to true for yes; to false for no or when the signal fires. */
  confirm(title: string, rows: Row[], signal?: AbortSignal): Promise<boolean>;
  /** Runs longer work, which is interrupted as a turn is. `what`: a description of the work. */
  work(what: string, action: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Announces a change of the available commands. */
  changed(): void;
};

/** A command. `argument` names its argument; without it none is allowed. */
export type Command = {
  name: string;
  summary: string;
  argument?: string;
  run(argument: string, context: CommandContext): void | Promise<void>;
};

/** The notice of a command that cannot run during a turn. */
export const busyNotice = "Busy: press Esc to interrupt first";
