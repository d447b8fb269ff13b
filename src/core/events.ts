/** The events of a session's log. The log is the truth; everything else is a function of it. Pure types. */

import type { AssistantBlock, ResultContent, TextBlock, UserBlock } from "./blocks.ts";
import type { DecisionRecord } from "./decision.ts";
import type { ModelCard, Usage } from "./model-card.ts";
import type { Egress } from "./network/egress.ts";
import type { CachePoint, ToolDefinition, WebSearch } from "./request.ts";
import type { SandboxStatus } from "./sandbox.ts";
import type { CallFacts } from "./tool-calls.ts";

/** A change of the view; the log itself never changes. */
export type ContextEdit =
  /** From now on the block at index `block` of the event `seq` reads `text`. */
  | { type: "replace"; seq: number; block: number; text: string }
  /**
   * The events `from` to `to` (inclusive) become `text`. If `from` is a tool result, `text` becomes the result
   * of that call; user messages inside the span survive verbatim, after it. `lines`: the text has a line for each call,
   * and the model's words; without it, it is what was learned or a summary.
   */
  | { type: "collapse"; from: number; to: number; text: string; lines?: true }
  /** Drops the thinking of all events up to `to`. */
  | { type: "drop_thinking"; to: number };

/** Why an edit was worth it, in tokens and dollars; filled by the policy that asked for it. */
export type Economics = Record<string, number | string>;

export type TurnEnd =
  /** The model is done: its last reply called no tool. */
  | "completed"
  | "interrupted"
  | "max_turns"
  | "max_budget"
  | "max_time"
  | "refusal"
  | "output_limit"
  | "context_full"
  /** The model repeated itself without progress. */
  | "loop"
  /** A hook of the user ended it, or refused the message. */
  | "hook"
  | "model_error"
  | "error";

/** Why a call did not run: no such tool, an input that does not fit its schema, no permission, an interrupted turn. */
export type Rejection = "unknown_tool" | "invalid_input" | "denied" | "cancelled";

export type Task = { text: string; status: "open" | "active" | "done" };

/** Codes of the agent's own warnings; a warning from elsewhere has none. */
export type WarningCode =
  | "tool_crashed"
  | "thinking_dropped"
  | "cache_missed"
  | "reply_repeated"
  | "history_repaired"
  | "rule_broken"
  | "messages_lost"
  | "summaries_stopped"
  | "instructions_released"
  | "window_learned";

/** The rules of a request, as context/rules numbers them. */
export type RuleNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** The topic of a reminder; prompts/reminders.md has the words for each. */
export type Topic =
  | "todo"
  | "todo_changed"
  | "focus"
  | "focus_open"
  | "unfold"
  | "loop"
  | "plateau"
  | "limits"
  | "files"
  | "repetition";

export type ModelErrorKind =
  | "bad_request"
  | "credentials"
  | "not_found"
  | "too_large"
  | "context_full"
  | "rate_limit"
  | "overloaded"
  | "server"
  | "network"
  | "idle"
  | "incomplete"
  | "bound_thinking"
  | "aborted"
  | "script";

export type EventBody =
  | {
      type: "session_started";
      sessionId: string;
      cwd: string;
      /** The session's folder: log, artifacts, todo.md, knowledge.md. */
      folder: string;
      model: ModelCard;
      system: string;
      tools: ToolDefinition[];
      /** Present where the person turned the provider's own search on. */
      webSearch?: WebSearch;
      effort?: string;
      /** Name of the policy stack that plans this session's edits. */
      context: string;
      /** Settings of the engine that differ from the defaults. */
      engine?: Record<string, number>;
      /** The session this one was forked from, or that delegated to it. */
      parent?: string;
      /** Present in the session of a sub-agent. */
      delegate?: Delegated;
    }
  /** The model or its effort changed; later requests use these. */
  | { type: "model_changed"; model: ModelCard; effort?: string }
  /** The user named the session; an empty name removes the name. */
  | { type: "session_named"; name: string }
  /** The policy stack or the engine's settings changed; both replace the earlier ones. */
  | { type: "settings_changed"; context: string; engine: Record<string, number> }
  /** `preamble`: facts placed before the user's own words (folder, date, project instructions). */
  | {
      type: "user_message";
      content: UserBlock[];
      preamble?: TextBlock[];
      /** Index in `preamble` of the block that takes what is learned. */
      knowledge?: number;
      /** The user ran this command with `!`: the content is the command and its output, as `shellText` words them. */
      shell?: { command: string };
    }
  | {
      type: "assistant_message";
      content: AssistantBlock[];
      stopReason: string;
      usage: Usage;
      model: string;
      /** Time from sending to the end of the reply. */
      durationMs: number;
      messageId?: string;
    }
  | {
      type: "tool_result";
      toolUseId: string;
      toolName: string;
      content: ResultContent;
      isError: boolean;
      /** Present when the call did not run. */
      rejected?: Rejection;
      /** The task list from here on. */
      tasks?: Task[];
      /** File that holds the whole output. */
      artifact?: string;
      stats?: ToolStats;
      /** For people: a diff. Never sent to the model. */
      display?: string;
      /** Absolute paths of the instruction files whose text it is. */
      instructions?: string[];
      /** Title of the call and what it touches; recorded only for tools that core does not know. */
      call?: CallFacts;
    }
  /** Precedes every call, allowed or denied. Logs of earlier versions have only the denials. */
  | ({ type: "permission_decided"; toolUseId: string } & DecisionRecord)
  | {
      type: "context_edited";
      policy: string;
      reason: string;
      edits: ContextEdit[];
      economics: Economics;
      /** Present when the edit folds a focus. */
      fold?: { objective: string };
    }
  /**
   * A message of the engine to the model. `turn_scoped` counts for one step and stays in place, `tail` is in one step's
   * request only, `logged` stays. `about` is the subject by which its spacing is counted.
   */
  | {
      type: "reminder";
      channel: "turn_scoped" | "tail" | "logged";
      text: string;
      about?: Topic[];
      /** The task list as the user edited it, when the reminder is about that edit. */
      todo?: string;
      /** The states of the files it reports: `hash` is "" for a deleted file. */
      files?: { path: string; hash: string }[];
      /** Absolute paths of the instruction files whose text it is. */
      instructions?: string[];
      /** Seqs of the events whose instructions no longer stand: they may be forgotten as other texts are. */
      released?: number[];
    }
  /** All tools withheld from here on, where the provider supports that; an empty list offers all. */
  | { type: "tools_gated"; withdrawn: string[] }
  | {
      type: "model_request";
      /** SHA-256 of the exact body. */
      bodyHash: string;
      /** Input tokens by the engine's estimate, before calibration. */
      tokensEstimated: number;
      cacheAfter: CachePoint[];
      /** Tokens that could be forgotten but were sent because forgetting did not pay yet. */
      deferredTokens?: number;
      /** Tokens that forgetting them would have rewritten. */
      flushTokens?: number;
    }
  /** A model call outside the conversation: it is billed, but its reply is not in the history. */
  | {
      type: "summary_call";
      purpose: "summary";
      usage: Usage;
      model: string;
      durationMs: number;
      outcome: "accepted" | "rejected" | "failed";
      /** Why it was not used, or what was repaired in it. */
      detail?: string;
      /** Number of requests, when more than one was needed. */
      attempts?: number;
      /** The question appended to the request, kept so that the request can be rebuilt. */
      question?: string;
      /** SHA-256 of the exact body. */
      bodyHash?: string;
      /** The model used, when it is not the session's own. */
      card?: ModelCard;
      /** Expected cost in dollars on the session's own model and on the cheapest other one. */
      price?: { ownUsd: number; otherUsd?: number };
    }
  | { type: "model_failed"; kind: ModelErrorKind; message: string; attempt: number; waitMs?: number }
  /** The sandbox for commands from here on: engine, walls, and writable paths. */
  | { type: "sandbox"; status: SandboxStatus; writable: string[] }
  /** A file that other programs would run appeared in the sandbox and was moved to `kept`, or was restored. */
  | { type: "quarantined"; path: string; kept: string; accepted?: true }
  /** Absolute paths of files that a command changed and that other programs run. */
  | { type: "runs_elsewhere"; paths: string[] }
  /** Something a person should know. `rule`: the number of the broken rule (context/rules). */
  | { type: "warning"; text: string; code?: WarningCode; rule?: RuleNumber }
  /** Connections of one command to one host since its last such event. Never sent to the model. */
  | ({ type: "egress" } & Egress)
  /** A command of the shell called a tool of a server. Never sent to the model. */
  | ({ type: "mcp_called" } & ServerCalled)
  /**
   * A sub-agent begins: a session of its own, with its log in `folder`. `toolUseId`: the call that asked for it. `writes`:
   * it may do more than read. `role`: name of the skill that instructs it. `brief`: its task, where the person started it
   * and no call says so.
   */
  | {
      type: "delegate_started";
      delegate: string;
      folder: string;
      toolUseId: string;
      writes: boolean;
      role?: string;
      brief?: string;
    }
  /** A model call of a sub-agent, billed here too. `card`: present when it is not the model of this session. */
  | {
      type: "delegate_called";
      delegate: string;
      usage: Usage;
      model: string;
      durationMs: number;
      card?: ModelCard;
    }
  /**
   * A sub-agent ended. `outside`: it read text from outside, and its report may repeat that. `economics`: what it cost,
   * and what the same calls would have cost in this session.
   */
  | {
      type: "delegate_ended";
      delegate: string;
      reason: TurnEnd;
      detail?: string;
      outside?: true;
      economics: { calls: number; apartUsd: number; inPlaceUsd: number };
    }
  | { type: "turn_ended"; reason: TurnEnd; detail?: string };

/** One line of the log. `seq` counts from 0 without gaps; `at` is milliseconds since 1970. */
export type LogEvent = { seq: number; at: number } & EventBody;
/** A message of the user, before it is an event. */
export type UserMessage = Pick<EventOf<"user_message">, "content" | "shell">;

export type EventOf<T extends EventBody["type"]> = Extract<LogEvent, { type: T }>;

/**
 * Facts about the session of a sub-agent. `toolUseId`: the call of its parent. `role`: name of the skill that instructs
 * it; `tools`: the only ones that this names. `outside`, `private`: where the parent had
 * read text from outside and private data from by then.
 */
export type Delegated = {
  toolUseId: string;
  writes: boolean;
  role?: string;
  tools?: readonly string[];
  outside?: string;
  private?: string;
};

/** A call by the shell. `command`: `tool_use` id of the command, or `job <pid>`. `bytes`: of what it printed. */
export type ServerCalled = {
  server: string;
  tool: string;
  /** `error`: the tool failed, or could not be called. `refused`: no running command named it. */
  outcome: "ok" | "error" | "refused" | "cancelled";
  durationMs: number;
  bytes: number;
  command?: string;
};

/** Facts about a call that outlive its text. */
export type ToolStats = {
  durationMs?: number;
  exitCode?: number;
  timedOut?: boolean;
  bytes?: number;
  lines?: number;
  /** Absolute paths this call wrote. */
  wrote?: string[];
  /** Absolute paths this call read. */
  read?: string[];
  /** State at that time of the one file that was read or written. */
  hash?: string;
  /** The use of a command, read off its line, with the files that the line names. */
  purpose?: CommandPurpose;
};

/** `test`: anything that is run for its verdict. `read`, `wrote`: absolute paths, as far as the line names them. */
export type CommandPurpose = {
  kind: "read" | "search" | "test" | "edit" | "other";
  read: string[];
  wrote: string[];
};
