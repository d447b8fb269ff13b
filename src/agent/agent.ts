/** The loop's ports to the outside, and its limits. Types only. */

import type { Policy } from "../context/policies/policy.ts";
import type { DecisionRecord } from "../core/decision.ts";
import type { EventOf, TurnEnd, UserMessage } from "../core/events.ts";
import type { ModelCard } from "../core/model-card.ts";
import type {
  Access,
  Artifacts,
  Clock,
  EventLog,
  KnownFile,
  Model,
  ModelPart,
  Tool,
  ToolContext,
  ToolOutput,
} from "../core/ports.ts";

/** Ceilings over the whole session, resumed parts included. Undefined: no limit. */
export type Limits = {
  maxTurns?: number;
  maxBudgetUsd?: number;
  /** Milliseconds since 1970 at which the run must stop. */
  deadline?: number;
};

/**
 * The sums that count in the limits of a sub-agent: the calls of the session that delegated and of all its sub-agents, and those
 * that are on their way. `hold`: dollars of a call that is about to be made, until it is billed.
 */
export type Account = { spent(): { turns: number; cost: number }; hold(dollars: number): void };

/** Paths and commands of a step: absolute paths that it read or wrote, and command lines that ran. */
export type TouchedPaths = { read: string[]; wrote: string[]; commands: string[] };

/** A file with instructions of a folder, and its text. */
export type InstructionFile = { path: string; text: string };

type UserQuestion = Omit<NonNullable<DecisionRecord["asked"]>, "waitedMs">;

/** The answer to "may this call run?", as it is recorded; `reason` is for the model. */
export type Permission = Omit<DecisionRecord, "decision" | "asked"> & { asked?: UserQuestion } & (
    | { decision: "allow" }
    | { decision: "deny"; reason: string }
  );

/**
 * A call before it runs. `id`: of its block. `access`: what it touches, found once, so that nothing else is touched than
 * was decided on.
 */
export type ProposedCall = { id: string; tool: Tool; input: Record<string, unknown>; access: Access };

/** `open` makes the model of one of the cards. `always`: the first card is asked whatever it costs. */
export type OtherModels = {
  cards: readonly ModelCard[];
  always: boolean;
  open(card: ModelCard): Model | Promise<Model>;
};

/** Composed once, by the composition root; what changes in the middle of a session is read through a getter. */
export type Agent = Readonly<{
  log: EventLog;
  /** The one that the log names now. */
  model: Model;
  tools: readonly Tool[];
  policies: readonly Policy[];
  limits: Readonly<Limits>;
  /** Present in a sub-agent: its limits are those of the session that delegated. */
  account?: Account;
  clock: Clock;
  artifacts: Artifacts;
  permit(call: ProposedCall, signal: AbortSignal): Promise<Permission>;
  /**
   * Runs a call. Rejects, and aborts the signal that the call was given, when an error that nothing caught comes up
   * meanwhile: thrown on a timer or an emitter, or a rejection without a handler.
   */
  guard<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Called before a permitted call that writes or runs something, so that it can be undone. Never throws. */
  beforeWrite?(access: Access): Promise<void>;
  /** Told of each call that ran, with its output, before the next one runs. */
  afterCall?(call: ProposedCall, output: ToolOutput, signal: AbortSignal): Promise<void>;
  /**
   * Asked when the model is done: why it has to go on, in words for it; undefined lets the turn end. `sentBack`: times
   * that it went on in this turn.
   */
  beforeEnd?(sentBack: number, signal: AbortSignal): Promise<string | undefined>;
  /** Returns why the turn must end after this step, once. */
  takeStop?(): string | undefined;
  /** Returns true once the model has handed in what the session is for; the turn is then completed. */
  isDone?(): boolean;
  /** User messages typed since the last step; taken once. */
  takeSteering(): UserMessage[] | Promise<UserMessage[]>;
  /** Notices for the model at the next step: a background job ended. Taken once. */
  takeNotices(): string[];
  onPart(part: ModelPart): void;
  /** Live output of the running call, for the screen. */
  onProgress(toolUseId: string, text: string): void;
  /** As in `ToolContext`. */
  onWaiting?: ToolContext["onWaiting"];
  /** Replaces secrets in what a tool returned. */
  redact(text: string): string;
  hash(body: string): string;
  /** Reads todo.md; undefined when there is none. */
  readTasks(): string | undefined;
  /** Those of the files that are no longer as they are known. `commands`: what the model ran since the last look. */
  changedFiles(known: readonly KnownFile[], commands: readonly string[]): KnownFile[];
  /** Reads the instructions of folders that a step touched for the first time; absent where none are read. */
  instructionsFor?(touched: TouchedPaths, told: ReadonlySet<string>, mostBytes: number): InstructionFile[];
  /** The question that asks the model for a summary. */
  summaryPrompt: string;
  /** Other models of the provider that may write a summary where that is much cheaper. */
  summaries: OtherModels;
  /** Returns true when there is a file or folder with this absolute path. */
  pathExists(path: string): boolean;
  /** The words of reminders: prompts/reminders.md. */
  reminderWords: string;
}>;

/** The end of one attempt at a step. */
export type StepOutcome =
  | { type: "reply"; reply: EventOf<"assistant_message"> }
  /** The history was repaired, or the reply thrown away: the step is made again. */
  | { type: "again" }
  | { type: "end"; reason: TurnEnd; detail?: string };
