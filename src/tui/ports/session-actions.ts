/** The actions of the slash commands on the session behind the screen. Types only. Errors are shown as a line. */

import type { SwitchCost } from "../../context/report/switch-cost.ts";
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
  /** Returns the commands from Markdown files, as they were when the session was opened. */
  own(): OwnCommands;
  /** Trusts the project's commands as they are now in `own`. */
  trust(): void;
};

/** Tokens of the next request, and dollars of the calls. `why`: the reason when the history is unchanged. */
export type Compacted = { before: number; after: number; cost: number } | { why: string; cost: number };

/** A model of the list. `lacking`: what it takes to use it, in a few words; undefined for one that can be used now. */
export type ListedModel = { card: ModelCard; lacking?: string | undefined };

/** The models, those that can be used now first. `others`: how to name one that is not listed, if there may be any. */
export type Models = { listed: ListedModel[]; current: string; others?: string | undefined };

/** A found model. `warnings`: unknown facts about it. `take` makes it the session's model. */
export type ModelChoice = { card: ModelCard; cost: SwitchCost; warnings: string[]; take(): void };

/** A command that only sends a text; `$ARGUMENTS` in it stands for its argument. */
export type OwnCommand = { name: string; description: string; text: string };

export type OwnCommands = {
  commands: OwnCommand[];
  /** Files that were left out, a line for each. */
  notes: string[];
  /** The project's commands, while untrusted. `changed`: others from this folder were trusted before. */
  untrusted?: { folder: string; commands: OwnCommand[]; changed: boolean };
};
