/** The stable surface of the package: everything that a program can name. Types only; `docs/library.md` explains them. */

import type { SessionOptions } from "../app/options.ts";
import type { PermissionMode, RuleScope } from "../core/decision.ts";
import type { LogEvent, TurnEnd } from "../core/events.ts";
import type { ModelCard, Prices } from "../core/model-card.ts";
import type { Happening, Model, ModelPart, ModelReply } from "../core/ports.ts";
import type { Effort, JsonSchema, ModelRequest } from "../core/request.ts";

export type { AssistantBlock, ImageBlock, TextBlock, ToolUseBlock, UserBlock } from "../core/blocks.ts";
export type { EventOf, LogEvent, ModelErrorKind, TurnEnd } from "../core/events.ts";
export type { ModelCard, Usage } from "../core/model-card.ts";
export type { Happening, Model, ModelPart, ModelReply } from "../core/ports.ts";
export type { Effort, JsonSchema, ModelRequest } from "../core/request.ts";

/** A call that rules and mode leave open. */
export type PermissionQuestion = {
  /** Name of the tool; `network` where a running command wants to reach a host. */
  tool: string;
  input: Record<string, unknown>;
  /** The call in a few words: `bash npm test`. */
  title: string;
  /** The reason for the question, in a sentence. */
  reason: string;
  /** The rule that would allow it from now on. */
  rule?: string;
  /** Id of the call; absent where a running command asks. */
  toolUseId?: string;
};

/** `remember`: a rule that allows such calls from now on. `say`: what the model should do instead. */
export type PermissionAnswer =
  | { decision: "allow"; remember?: { rule: string; scope: RuleScope } }
  | { decision: "deny"; say?: string };

/** A tool of the program. It runs in the program's own process, outside of the sandbox. */
export type AgentTool = {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  /** The text by which the model decides when to call it. */
  description: string;
  /** Schema of the input, an object. An input that does not fit it never reaches `run`. */
  inputSchema: JsonSchema;
  /**
   * True when it changes nothing: then it runs in every mode without a question. Otherwise a rule with its name allows
   * it, or the mode `auto`, or the permission callback.
   */
  readOnly?: boolean;
  /** Returns the result for the model. An error that it throws is a result too: the model reads its message. */
  run(input: Record<string, unknown>, context: AgentToolContext): string | Promise<string>;
};

/** `signal` is aborted when the turn is interrupted. `onProgress` tells those who follow, never the model. */
export type AgentToolContext = { toolUseId: string; signal: AbortSignal; onProgress(text: string): void };

/** Each of the command line's options that makes sense in a program; all can be left out. */
export type AgentOptions = Partial<Omit<SessionOptions, "model">> & {
  /** `provider/id`, `scripted/<file>`, `recorded/<cassette>`, or a model of the program's own. */
  model?: string | Model;
  /** Folder to work in; by default that of the process. */
  cwd?: string;
  /** Variables with keys and for commands; by default those of the process. */
  env?: Record<string, string | undefined>;
  tools?: readonly AgentTool[];
  /**
   * Decides what rules and mode leave open; without it that is denied. `signal` is aborted when the turn ends first. An
   * error that it throws denies the call.
   */
  permission?(
    question: PermissionQuestion,
    signal: AbortSignal,
  ): PermissionAnswer | Promise<PermissionAnswer>;
};

/** The end of a turn. `costUsd`: of this turn. `detail`: why it ended, where there is more to say. */
export type TurnResult = { reason: TurnEnd; text: string; costUsd: number; detail?: string };

/** A running turn: await it for its result, or iterate for what happens in it, from then on to its end. */
export type Turn = Promise<TurnResult> & AsyncIterable<Happening>;

/** A picture of a message: PNG, JPEG, GIF or WebP. A large one is scaled down. `name`: for the model, and for errors. */
export type Picture = { type: "image"; data: Uint8Array; name?: string };

/** A message: a text, or texts and pictures in their order. */
export type Message = string | readonly ({ type: "text"; text: string } | Picture)[];

/** The choices in force. `model`: its id. `effort`: absent where the model's maker decides. */
export type Choices = { model: string; effort?: string; mode: PermissionMode };

/** One session. */
export type Agent = {
  sessionId: string;
  /** Absolute folder with the session's log and files. */
  folder: string;
  log: {
    /** Returns all events as one live array: it grows. */
    events(): readonly LogEvent[];
  };
  /**
   * Says a message and runs the turn to its end. Rejects while another turn runs, after `close`, and for a picture that
   * cannot be shown. `signal` interrupts this turn.
   */
  prompt(message: Message, options?: { signal?: AbortSignal }): Turn;
  /**
   * Gives a message to the running turn: the model reads it at its next step. Resolves to false when none runs. Rejects
   * after `close`, and for a picture that cannot be shown.
   */
  steer(message: Message): Promise<boolean>;
  /** Ends the running turn, if any; resolves once nothing of it runs. */
  interrupt(): Promise<void>;
  /** Returns the model, effort and mode in force. */
  choices(): Choices;
  /** Changes what runs without a question, from the next call on, also in a running turn. */
  setMode(mode: PermissionMode): void;
  /**
   * Goes on with another model: a name, or one of the program's own. Rejects with `UsageError` while a turn runs, for a
   * model that cannot be used, and where the context does not fit its window; then nothing is changed.
   */
  setModel(model: string | Model): Promise<void>;
  /** Changes how hard the model thinks; undefined: as its maker means it. Throws while a turn runs. */
  setEffort(effort: Effort | undefined): void;
  /** Calls the listener with whatever happens from now on; returns how to stop that. */
  follow(listener: (happening: Happening) => void): () => void;
  /** Interrupts, ends every process of the session, and closes its log. Idempotent. */
  close(): Promise<void>;
};

/** Opens a session, new or stored. Throws `UsageError` for options that make no sense, before anything is written. */
export type CreateAgent = (options?: AgentOptions) => Promise<Agent>;

/** Facts about a model of one's own. */
export type OwnModel = {
  /** `provider/id`, any words. */
  id: string;
  /** Tokens. */
  window: number;
  maxOutput?: number;
  /** Dollars per million tokens; by default it costs nothing. */
  prices?: Prices;
  contract?: Partial<ModelCard["contract"]>;
  /** Answers a request. It should throw `ModelError`; anything else ends the turn as "error". */
  send(request: ModelRequest, onPart: (part: ModelPart) => void, signal: AbortSignal): Promise<OwnReply>;
};

export type OwnReply = Pick<ModelReply, "content"> & Partial<Pick<ModelReply, "stopReason" | "usage">>;

/** Makes a model of a function. Its requests are kept as JSON. */
export type DefineModel = (model: OwnModel) => Model;
