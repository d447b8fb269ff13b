/** The actions of the slash commands on the session behind the screen. Types only. Errors are shown as a line. */

import type { SwitchCost } from "../../context/report/switch-cost.ts";
import type { UserBlock } from "../../core/blocks.ts";
import type { ExportFormat } from "../../core/formats.ts";
import type { ModelCard } from "../../core/model-card.ts";

export type SessionActions = {
  /**
   * Makes a handoff summary now; `keep`: what the user wants kept, or "". Leaves the history alone when none is made.
   */
  compact(keep: string, signal: AbortSignal): Promise<Compacted>;
  models(): Models;
  /** Finds a model by its name, or a unique part of it. Changes nothing yet. */
  findModel(name: string): Promise<ModelChoice>;
  /** Folds the open focus; returns the reason when it could not. */
  foldFocus(): string | undefined;
  /** Writes the report as a page and opens it where there is a display. */
  report(): Promise<{ file: string; opened: boolean }>;
  /** Writes the session as a file; returns its absolute path. */
  exportTo(format: ExportFormat, file: string): Promise<string>;
  /** Returns the output of `sawtooth doctor`. */
  doctor(): Promise<string>;
  /**
   * Starts a role as a sub-agent, and returns its report as a message for the model. Rejects with why there is no such
   * role.
   */
  delegate(name: string, argument: string, signal: AbortSignal): Promise<UserBlock[]>;
  /** Returns the commands from files, and the skills, as they were when the session was opened. */
  own(): OwnCommands;
  /** Trusts these of the project, as they are in `own`. */
  trust(these: readonly UntrustedCommand[]): void;
};

/** Tokens of the next request, and dollars of the calls. `why`: the reason when the history is unchanged. */
export type Compacted = { before: number; after: number; cost: number } | { why: string; cost: number };

/** A model of the list. `lacking`: what it takes to use it, in a few words; undefined for one that can be used now. */
export type ListedModel = { card: ModelCard; lacking?: string | undefined };

/** The models, those that can be used now first. `others`: how to name one that is not listed, if there may be any. */
export type Models = { listed: ListedModel[]; current: string; others?: string | undefined };

/** A found model. `warnings`: unknown facts about it. `take` makes it the session's model. */
export type ModelChoice = { card: ModelCard; cost: SwitchCost; warnings: string[]; take(): void };

/** A command that only sends a text, or gives it to a sub-agent; `$ARGUMENTS` in it stands for its argument, which `hint` describes. */
export type OwnCommand = {
  name: string;
  description: string;
  text: string;
  hint?: string | undefined;
  /** It is a role: starting it starts a sub-agent. */
  isRole: boolean;
};

/** A command or skill of the project that waits for trust. */
export type UntrustedCommand = OwnCommand & {
  /** Where it lies, and the folder of that, for people. */
  called: string;
  place: string;
  /** The files of a skill; undefined for a command. */
  files: readonly string[] | undefined;
  /** It wants to grant itself tools, which it cannot. */
  asksForTools: boolean;
  /** It was trusted as it was before. */
  changed: boolean;
};

/** A skill or command in use. `tokens`: of its text; `line`: of its line in the list, 0 where the model has none. */
export type ListedSkill = OwnCommand & {
  called: string;
  origin: string;
  isSkill: boolean;
  tokens: number;
  line: number;
  asksForTools: boolean;
};

export type OwnCommands = {
  commands: OwnCommand[];
  /** Files that were left out, a line for each. */
  notes: string[];
  /** All that is in use. */
  skills: ListedSkill[];
  /** Those of the project that wait for trust. */
  untrusted: UntrustedCommand[];
};
