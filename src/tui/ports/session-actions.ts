/** What the slash commands ask of the session behind the screen. Types only. What throws is told as a line. */

import type { SwitchCost } from "../../context/report/switch-cost.ts";
import type { ExportFormat } from "../../core/formats.ts";
import type { ModelCard } from "../../core/model-card.ts";

export type SessionActions = {
  /** A handoff summary now; `keep`: what the person wants kept, or "". Leaves the history alone when none is made. */
  compact(keep: string, signal: AbortSignal): Promise<Compacted>;
  models(): Models;
  /** Finds a model by its name, or the part of it that only one has. Changes nothing yet. */
  findModel(name: string): Promise<ModelChoice>;
  /** Folds the open focus; why it did not, if so. */
  foldFocus(): string | undefined;
  /** Writes the report as a page and opens it where there is a display. */
  report(): Promise<{ file: string; opened: boolean }>;
  /** Writes the session as a file; returns its absolute path. */
  exportTo(format: ExportFormat, file: string): Promise<string>;
  /** What `sawtooth doctor` says. */
  doctor(): Promise<string>;
  /** The commands from Markdown files, as they were when the session was opened. */
  own(): OwnCommands;
  /** From here on the project's commands are taken, as they are now in `own`. */
  trust(): void;
};

/** Tokens of the next request, and dollars of the calls. `why`: the history is as it was. */
export type Compacted = { before: number; after: number; cost: number } | { why: string; cost: number };

/** `lacking`: models that would need a key, in a line for each provider. */
export type Models = { cards: ModelCard[]; current: string; lacking: string[] };

/** `warnings`: what is not known of it. `take` makes it the session's model. */
export type ModelChoice = { card: ModelCard; cost: SwitchCost; warnings: string[]; take(): void };

/** A command that is nothing but a text to be said; `$ARGUMENTS` in it stands for what follows its name. */
export type OwnCommand = { name: string; description: string; text: string };

export type OwnCommands = {
  commands: OwnCommand[];
  /** What was found and not taken, a line for each. */
  notes: string[];
  /** The project's commands, while nobody has trusted them. `changed`: others from this folder were trusted before. */
  untrusted?: { folder: string; commands: OwnCommand[]; changed: boolean };
};
