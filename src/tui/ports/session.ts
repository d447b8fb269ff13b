/** What the screen needs from the session behind it, and what it answers. Types only. */

import type { UserBlock } from "../../core/blocks.ts";
import type { TurnEnd } from "../../core/events.ts";
import type { BackgroundJobs, EventLog, ModelPart } from "../../core/ports.ts";
import type { CallFacts } from "../../core/tool-calls.ts";
import type { WaitingCommand } from "../../core/waiting-command.ts";
import type { PermissionMode } from "../../permissions/decide.ts";
import type { PathLink } from "../../permissions/links.ts";
import type { RuleScope, StandingRules } from "../../permissions/rules.ts";
import type { Row } from "../rows/rows.ts";
import type { SessionActions } from "./session-actions.ts";
import type { Open, PickRequest, Sessions, Undoing } from "./sessions.ts";

/** One open session. What throws here is told to the person as a line. */
export type Host = {
  log: EventLog;
  /** Absolute folder that the session works in, and how a person calls it. */
  cwd: string;
  shortCwd: string;
  /** The session's own folder. */
  folder: string;
  branch(): string | undefined;
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  /** Judges the open questions again: the mode has changed. Those that it answers are closed. */
  judgeAgain(): void;
  /** Says this to the model and works until it rests. */
  turn(content: UserBlock[], signal: AbortSignal): Promise<TurnEnd>;
  /** Puts something into the log for the model to read at its next step. */
  say(content: UserBlock[]): void;
  /** Runs a line in the session's shell; what it printed, with its status. */
  shell(command: string, signal: AbortSignal, watching: Watching): Promise<string>;
  jobs: BackgroundJobs;
  /** Processes of runs that were killed. */
  leftovers: { find(): readonly { pid: number }[]; end(): Promise<void> };
  rules: StandingRules;
  sessions: Sessions;
  undo: Undoing;
  desk: SessionActions;
  setEffort(effort: string): void;
  /** Paths of the workspace's files, relative to the folder. */
  files(): Promise<string[]>;
  /** Opens the person's editor on a text; undefined when it was left without saving. */
  editText(text: string): Promise<string | undefined>;
  /** What was typed in earlier sessions, oldest first. */
  typed(): string[];
  rememberTyped(text: string): void;
};

/** What a person sees of a line that runs in the shell. */
export type Watching = { onProgress(text: string): void; onWaiting(command: WaitingCommand): void };

/** A call that may not run before a person says so. */
export type Question = {
  toolName: string;
  input: Record<string, unknown>;
  /** As the tool describes the call. */
  facts?: CallFacts | undefined;
  /** Why it asks, in a sentence. */
  reason: string;
  /** The rule that would let it through from now on. */
  suggestion?: string | undefined;
  /** Paths in the call that lead elsewhere through a link, and where they really lead. */
  links?: readonly PathLink[] | undefined;
  /** Where it would be kept, by its scope. */
  places?: StandingRules["places"];
};

/** Anything else that needs a yes: what it is about, in rows that are cut where the room ends. */
export type Confirmation = { title: string; rows: Row[] };

export type Answer =
  | { decision: "allow"; remember?: { rule: string; scope: RuleScope } }
  /** `say`: what to do instead; may be empty. */
  | { decision: "deny"; say: string };

/** How a session is left: for good, or for another one. */
export type Leave = { type: "quit" } | Open;

/** `say`: said at once. `draft`: put into the input box. */
export type Beginning = { say?: string | undefined; draft?: string | undefined };

/** What the agent calls while it works. */
export type Person = {
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  takeSteering(): UserBlock[][];
  onPart(part: ModelPart): void;
  onProgress(toolUseId: string, text: string): void;
  /** A command waits at its terminal; returns how long its call waits for the person, in milliseconds. */
  onWaiting(command: WaitingCommand): number;
};

export type Tui = {
  person: Person;
  /** Shows a session and talks until it is left. */
  attach(host: Host, beginning?: Beginning): Promise<Leave>;
  /** Lets the person choose from a list; undefined when nothing was chosen. */
  pick(request: PickRequest): Promise<string | undefined>;
  /** One line for the person. */
  warn(text: string): void;
  /** Interrupts what runs, and waits until it has ended, for a while. */
  stopped(): Promise<void>;
  /** Gives the terminal back. Idempotent. */
  close(): void;
};
