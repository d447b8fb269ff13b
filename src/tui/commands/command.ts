/** A slash command, and what it may use of the screen and the session. Types, and the words they share. */

import type { LogEvent } from "../../core/events.ts";
import type { Host, Leave } from "../ports/session.ts";
import type { PickRequest } from "../ports/sessions.ts";
import type { Row } from "../rows/rows.ts";

export type CommandContext = {
  host: Host;
  /** Those that there are in this session. */
  commands: readonly Command[];
  events: readonly LogEvent[];
  columns: number;
  /** A turn is running. */
  busy: boolean;
  print(rows: Row[]): void;
  /** One line that goes with the next key. */
  notice(text: string): void;
  leave(how: Leave): void;
  /** Lets the person choose from a list; undefined when nothing was chosen. */
  pick(request: PickRequest): Promise<string | undefined>;
  /** Says this to the model: now, or at the next step. */
  say(text: string): void;
  /** Resolves to true when the person says yes; to false when they say no or the signal fires. */
  confirm(title: string, rows: Row[], signal?: AbortSignal): Promise<boolean>;
  /** Does something that takes time; interrupted as a turn is. `what`: what is done meanwhile. */
  work(what: string, action: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** There are other commands now. */
  changed(): void;
};

/** `argument` names what may follow; without it nothing may. */
export type Command = {
  name: string;
  summary: string;
  argument?: string;
  run(argument: string, context: CommandContext): void | Promise<void>;
};

/** The notice of a command that cannot run during a turn. */
export const busyNotice = "Busy: press Esc to interrupt first";
