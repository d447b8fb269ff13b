/** One session made ready to run: what print mode and the demo get from the wiring. */

import type { Agent } from "../agent/agent.ts";
import type { UserBlock } from "../core/blocks.ts";
import type { PermissionMode } from "../core/decision.ts";
import type { LogEvent } from "../core/events.ts";
import type { BackgroundJobs } from "../core/ports.ts";
import type { CallFacts } from "../core/tool-calls.ts";
import type { Snapshots } from "../core/undo-port.ts";
import type { PathLink } from "../permissions/links.ts";
import type { RuleScope, StandingRules } from "../permissions/rules.ts";
import type { SessionOptions } from "./options.ts";

export type Run = {
  agent: Agent;
  sessionId: string;
  /** Absolute folder of the session. */
  folder: string;
  mode: PermissionMode;
  /** The files as they were before each step that wrote. */
  snapshots: Snapshots;
  jobs: BackgroundJobs;
  rules: StandingRules;
  /** Judges the open questions again, where a person has changed the mode; those that it answers are closed. */
  judgeAgain(): void;
  /** Appends a user message; the session's first one carries the facts about the folder. */
  say(content: UserBlock[]): void;
  /** Ends every process of the session's shell and closes the log. Idempotent. */
  close(): Promise<void>;
};

/** Somebody at a screen: can be asked, types while it works, and watches. */
export type Person = Pick<Agent, "takeSteering" | "onPart" | "onProgress" | "onWaiting"> & {
  /** The mode that the person chose since the start, if any. */
  mode(): PermissionMode | undefined;
  /** Allow rules for as long as the person stays; what is added here counts. */
  allowed: string[];
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
};

/** `suggestion`: the rule that would let it through from now on. */
export type Question = {
  toolName: string;
  input: Record<string, unknown>;
  /** As the tool describes the call. */
  facts?: CallFacts | undefined;
  reason: string;
  suggestion?: string | undefined;
  /** Paths in the call that lead elsewhere through a link. */
  links?: readonly PathLink[] | undefined;
  /** Where a rule would be kept, by its scope. */
  places?: StandingRules["places"];
};
/** `say`: what to do instead; may be empty. */
export type Answer =
  | { decision: "allow"; remember?: { rule: string; scope: RuleScope } }
  | { decision: "deny"; say: string };

export type OpenOptions = {
  flags: SessionOptions;
  /** Of a branch: how many events of the other session it begins with; by default all. */
  events?: number | undefined;
  /** Undefined: nobody is there, and what would ask is denied. */
  person?: Person;
  cwd: string;
  env: Record<string, string | undefined>;
  /** One line for the person; never for the model. */
  warn(text: string): void;
  /** Says what bug ends the program. The log is closed and holds it, the process exits with 1 afterwards. */
  crashed(error: unknown, events: readonly LogEvent[]): void;
};

export type OpenRun = (options: OpenOptions) => Promise<Run>;
