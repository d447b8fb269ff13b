/** One session made ready to run, as print mode and the demo get it. */

import type { Agent, Permission } from "../agent/agent.ts";
import type { UserBlock } from "../core/blocks.ts";
import type { PermissionMode } from "../core/decision.ts";
import type { LogEvent } from "../core/events.ts";
import type { Access, BackgroundJobs, Model, Tool } from "../core/ports.ts";
import type { Snapshots } from "../core/undo-port.ts";
import type { SessionHooks } from "../hooks/session-hooks.ts";
import type { SessionServers } from "../mcp/servers.ts";
import type { StandingRules } from "../permissions/rules.ts";
import type { Answer, Question } from "../tui/ports/session.ts";
import type { OpenedModels } from "./current-model.ts";
import type { DelegateOptions, PersonsDelegates } from "./delegate/options.ts";
import type { SessionSkills } from "./instructions/skills.ts";
import type { SessionOptions } from "./options.ts";
import type { SessionCommands } from "./sandbox/command-sandbox.ts";
import type { NetworkedSandbox } from "./sandbox/session-sandbox.ts";
import type { UncaughtWatch } from "./uncaught.ts";

export type Run = {
  agent: Agent;
  sessionId: string;
  /** Absolute folder of the session. */
  folder: string;
  mode: PermissionMode;
  /** Snapshots of the files before each step that wrote. */
  snapshots: Snapshots;
  jobs: BackgroundJobs;
  /** The servers of tools; undefined in a session without. */
  servers: SessionServers | undefined;
  rules: StandingRules;
  /** The models opened so far; the log says which of them is the current one. */
  models: OpenedModels;
  skills: SessionSkills;
  /** Undefined in a sub-agent, which has none. */
  delegation: PersonsDelegates | undefined;
  /** Absent where the person has none. */
  hooks?: SessionHooks | undefined;
  sandbox: NetworkedSandbox & Pick<SessionCommands, "acceptQuarantined" | "denials" | "peers">;
  /** Judges the open questions again after a change of mode, and closes those it answers. */
  judgeAgain(): void;
  /** Appends a user message; the session's first one carries the facts about the folder. */
  say(content: UserBlock[], shell?: { command: string }): void;
  /** Ends every process of the session's shell and closes the log. Idempotent. */
  close(): Promise<void>;
};

/** The user at the screen, who can be asked, types during a turn, and watches. */
export type Person = Pick<Agent, "takeSteering" | "onPart" | "onProgress" | "onWaiting"> & {
  /** Returns the mode that the user chose since the start, if any. */
  mode(): PermissionMode | undefined;
  /** Allow rules for as long as the user stays; added ones count at once. */
  allowed: string[];
  /** Asks the user. `onShown` is called once the question can be read: others may stand before it. */
  ask(question: Question, signal: AbortSignal, onShown?: () => void): Promise<Answer>;
};

/** Decides a call that rules and mode leave open. `denied`: the answer when it has none. */
export type SettleHeadless = (
  call: { toolName: string; input: Record<string, unknown>; signal: AbortSignal },
  denied: Extract<Permission, { decision: "deny" }>,
) => Promise<Permission>;

/** A program that talks to the session: it steers, watches, and may decide what nobody else has decided. */
export type Driver = Pick<Agent, "takeSteering"> &
  Partial<Pick<Agent, "onPart" | "onProgress"> & Pick<Person, "mode">> & {
    settle?: SettleHeadless | undefined;
  };

export type OpenOptions = {
  flags: SessionOptions;
  /** The number of events of the other session that a branch begins with; by default all. */
  events?: number | undefined;
  /** Undefined: nobody is there, and what would ask is denied, unless `driver` decides it. */
  person?: Person;
  /** A program that talks to the session. */
  driver?: Driver | undefined;
  /** The watch of a process with several sessions, which share it; by default the session has one of its own. */
  uncaught?: UncaughtWatch;
  /** Servers of tools (MCP) besides those in the settings, whose entries they replace; nothing in them is expanded. */
  servers?: Readonly<Record<string, object>> | undefined;
  /** Refuses calls before rules and mode are heard. `folder`: the session's own. */
  refuse?: (access: Access, folder: string) => Permission | undefined;
  /** Tools besides those of the registry, declared behind them. */
  tools?: readonly Tool[] | undefined;
  /** The model, where it is not one that the flags and settings name. */
  model?: Model | undefined;
  /** Gives the model no tools and another system prompt: it only turns text into data. */
  withoutTools?: boolean;
  /** Present for a sub-agent: what it takes from the session that delegated. */
  delegate?: DelegateOptions;
  /** Puts something around each model that is opened. `redact` takes secrets out. */
  wrapModel?: ((model: Model, redact: Agent["redact"]) => Model) | undefined;
  /** Milliseconds since 1970 at which the run must stop, where it began before the session. */
  deadline?: number | undefined;
  cwd: string;
  env: Record<string, string | undefined>;
  /** Shows one line to the user; never to the model. */
  warn(text: string): void;
  /** Says what bug ends the program. The log is closed and holds it, the process exits with 1 afterwards. */
  crashed(error: unknown, events: readonly LogEvent[]): void;
};

export type OpenRun = (options: OpenOptions) => Promise<Run>;
