/** The screen's interface to the session behind it, and its answers. Types only. */

import type { ToolUseBlock, UserBlock } from "../../core/blocks.ts";
import type { TurnEnd, UserMessage } from "../../core/events.ts";
import type { FormContent, FormField } from "../../core/form/fields.ts";
import type { BackgroundJobs, EventLog, Happening } from "../../core/ports.ts";
import type { SandboxPlan, SandboxStatus } from "../../core/sandbox.ts";
import type { CallFacts } from "../../core/tool-calls.ts";
import type { WaitingCommand } from "../../core/waiting-command.ts";
import type { PermissionMode } from "../../permissions/decide.ts";
import type { PathLink } from "../../permissions/links.ts";
import type { RuleScope, StandingRules } from "../../permissions/rules.ts";
import type { Row } from "../rows/rows.ts";
import type { SessionActions } from "./session-actions.ts";
import type { Open, PickRequest, Sessions, Undoing } from "./sessions.ts";

/** One open session. Errors thrown here are shown to the user as a line. */
export type Host = {
  log: EventLog;
  /** Absolute folder that the session works in, and its name for people. */
  cwd: string;
  shortCwd: string;
  /** The session's own folder. */
  folder: string;
  branch(): string | undefined;
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  /** Judges the open questions again after a change of mode, and closes those it answers. */
  judgeAgain(): void;
  /** Sends messages to the model as one and runs the turn to its end. */
  turn(messages: readonly Queued[], signal: AbortSignal): Promise<TurnEnd>;
  /** Calls the listener with whatever happens from now on; returns how to stop that. */
  follow(listener: (happening: Happening) => void): () => void;
  /** Appends a message to the log for the model to read at its next step. `shell`: the command it is about. */
  say(content: UserBlock[], shell?: { command: string }): void;
  /** Runs a line in the session's shell; returns its output with its status. */
  shell(command: string, signal: AbortSignal, watching: Watching): Promise<string>;
  /** Describes a call of a tool that core does not know. */
  describe(call: ToolUseBlock): CallFacts | undefined;
  jobs: BackgroundJobs;
  /** Processes of runs that were killed. */
  orphans: { find(): readonly { pid: number }[]; end(): Promise<void> };
  rules: StandingRules;
  mcp: ServerActions;
  sandbox: {
    /** Publishes a port of the sandbox on this machine. Rejects with why it cannot. */
    open(port: number): Promise<void>;
    status(): Promise<SandboxStatus>;
    /** Returns the plan of now; undefined without a sandbox. */
    inForce(): { plan: SandboxPlan } | undefined;
    /** Lets later commands run on the machine as they are. */
    switchOff(): void;
    /** Puts files in quarantine back; says in a sentence each why one could not be. */
    acceptQuarantined(): { accepted: string[]; problems: string[] };
    /** Lists what the sandbox denied lately, files and connections, the newest last. */
    denials(): string[];
  };
  sessions: Sessions;
  undo: Undoing;
  actions: SessionActions;
  setEffort(effort: string): void;
  /** Paths of the workspace's files, relative to the folder. */
  files(): Promise<string[]>;
  /**
   * Stores the picture in the clipboard and returns its name, to be written after `@`. Rejects with why there is none.
   */
  pastedPicture(): Promise<string>;
  /** Opens the user's editor on a text; undefined when it was left without saving. */
  editText(text: string): Promise<string | undefined>;
  /** Returns input of earlier sessions, oldest first. */
  typed(): string[];
  rememberTyped(text: string): void;
};

/** A prompt of a server. `hint`: how its arguments are written, or "". */
export type ServerPrompt = { name: string; description: string; hint: string };

/** The servers of tools (MCP). */
export type ServerActions = {
  /** Lists the servers of the session. `why`: of the last start that failed. `changed`: its tools wait for the user. */
  list(): {
    name: string;
    state: "not_started" | "starting" | "running";
    tools: number | undefined;
    why: string | undefined;
    changed: boolean;
  }[];
  /** Ends a server and starts it again. Rejects with why it cannot. */
  restart(name: string): Promise<void>;
  /** Lists the prompts that the servers are known to have. `name`: the command's, `server:prompt`. */
  prompts(): ServerPrompt[];
  /** Returns the message that a prompt makes; starts its server if need be. Rejects with why there is none. */
  fill(name: string, argument: string, signal: AbortSignal): Promise<UserBlock[]>;
  /** Lists the servers of the project that wait for the user. `text`: all that each would do, in lines. */
  waiting(): Promise<{ name: string; text: string }[]>;
  /** Lets later sessions use a server of the project, as it was shown. Throws an error of one line. */
  allow(name: string): void;
};

/** Callbacks for a line that runs in the shell. */
export type Watching = { onProgress(text: string): void; onWaiting(command: WaitingCommand): void };

/** A call that needs the user's permission. */
export type Question = {
  /** Id of the call; absent where a running command asks. */
  toolUseId?: string;
  toolName: string;
  input: Record<string, unknown>;
  /** The facts by which the tool describes the call. */
  facts?: CallFacts | undefined;
  /** The reason for the question, in a sentence. */
  reason: string;
  /** The rule that would allow it from now on. */
  suggestion?: string | undefined;
  /** Present when a connection of a running command waits for the answer; its title. */
  connection?: { title: string };
  /** Present when the question is about how a server of tools changed: lines that begin with `+`, `-` or neither. */
  changes?: { server: string; lines: readonly string[] };
  /** Present when a server of tools asks something in the middle of a call. */
  elicitation?: AskedByServer;
  /** Paths in the call that lead elsewhere through a link, and where they really lead. */
  links?: readonly PathLink[] | undefined;
  /** For a command that leaves the sandbox: its folder, the files that it names, and which of them were changed. */
  outside?: readonly string[] | undefined;
  /** The place that would store the rule, by scope. */
  locations?: StandingRules["locations"];
};

/** `lines`: its words. `url`: of the page that it wants to be opened. `fields`: of the form that it wants filled in. */
export type AskedByServer = {
  title: string;
  lines: readonly string[];
  url?: string;
  fields?: readonly FormField[];
};

/** Any other yes-or-no question: its subject, in rows that are cut where the room ends. */
export type Confirmation = { title: string; rows: Row[] };

export type Answer =
  /** `content`: of a form. */
  | { decision: "allow"; remember?: { rule: string; scope: RuleScope }; content?: FormContent }
  /** `say`: what the model should do instead; may be empty. `dismissed`: a form was closed without an answer. */
  | { decision: "deny"; say: string; dismissed?: true };

/** How a session is left: for good, or for another one. */
export type Leave = { type: "quit" } | Open;

/** `say`: sent at once. `draft`: put into the input box. */
export type Beginning = { say?: string | undefined; draft?: string | undefined };

/**
 * A message for the model. `typed`: the user wrote it, so that the pictures which it names are attached; the output of a
 * command and the prompt of a server name files as they like.
 */
export type Queued = UserMessage & { typed: boolean };

/** The user, as a session asks them and hears from them while it works. */
export type Person = {
  /** Asks the user. `onShown` is called once the question can be read: others may stand before it. */
  ask(question: Question, signal: AbortSignal, onShown?: () => void): Promise<Answer>;
  /** Takes the messages that wait for the next step. */
  takeQueued(): Queued[];
  /** Called when a command waits at its terminal; returns how long its call waits for the user, in milliseconds. */
  onWaiting(command: WaitingCommand): number;
};

export type Tui = {
  person: Person;
  /** Shows a session until the user leaves it. */
  attach(host: Host, beginning?: Beginning): Promise<Leave>;
  /** Lets the user choose from a list; undefined when nothing was chosen. */
  pick(request: PickRequest): Promise<string | undefined>;
  /**
   * Gives the terminal to `use` for a while: in its usual modes, with nothing of ours on it. `typed`: what was typed
   * before that, and nobody took.
   */
  lend<T>(use: (typed: string) => Promise<T>): Promise<T>;
  /** Shows one line to the user. */
  warn(text: string): void;
  /** Interrupts running work, and waits a while for its end. */
  stopped(): Promise<void>;
  /** Gives the terminal back. Idempotent. */
  close(): void;
};
