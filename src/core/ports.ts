/** The outside world as Sawtooth sees it: one port per thing, each with real, recorded or scripted values. */

import type { AssistantBlock, ResultContent, Search } from "./blocks.ts";
import type { EventBody, LogEvent, ModelErrorKind, Rejection, Task, ToolStats } from "./events.ts";
import type { ModelCard, Usage } from "./model-card.ts";
import type { JsonSchema, ModelRequest } from "./request.ts";
import type { CallReader } from "./tool-calls.ts";
import type { WaitingCommand } from "./waiting-command.ts";

/** Milliseconds since 1970. */
export type Clock = () => number;

/** A part of a reply while it streams in. */
export type ModelPart =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; text: string }
  | { type: "tool_use_started"; id: string; name: string }
  | { type: "input_delta"; id: string; text: string }
  /** A search of the provider's server is over. */
  | { type: "searched"; search: Search }
  /** The attempt failed: discard what it streamed; the next attempt starts after `waitMs`. */
  | { type: "attempt_failed"; kind: ModelErrorKind; message: string; attempt: number; waitMs: number };

/** Something that happens in a session: an event of its log, a part of a reply as it streams in, the output of a running call. */
export type Happening =
  | { type: "event"; event: LogEvent }
  | { type: "part"; part: ModelPart }
  | { type: "progress"; toolUseId: string; text: string };

export type ModelReply = {
  /** Complete blocks only. A reply cut off by `max_tokens` has no tool calls. */
  content: AssistantBlock[];
  stopReason: string;
  usage: Usage;
  model: string;
  messageId?: string;
  /** Reason for a cache miss, if the API gives one (provider-facts §3). */
  cacheMissReason?: string;
  /** Number of thinking blocks that the API dropped under `drop_block`. */
  droppedThinking?: number;
};

/** A model behind one port. `send` throws only `ModelError`. */
export type Model = {
  card: ModelCard;
  /** The exact body that `send` puts on the wire for this request. Pure. */
  encode(request: ModelRequest): string;
  /** `body` is what `encode` returned for `request`. */
  send(
    request: ModelRequest,
    body: string,
    onPart: (part: ModelPart) => void,
    signal: AbortSignal,
  ): Promise<ModelReply>;
};

/** Everything that a call touches, for the permission decision. Paths are absolute with links resolved. */
export type Access =
  | { kind: "read"; paths: string[] }
  | { kind: "write"; paths: string[] }
  /**
   * `input`: text typed into it; without a command, into the one that is waiting. `outside`: it leaves the sandbox and
   * runs in the folder `cwd` (real).
   */
  | { kind: "execute"; command: string; input?: string; outside?: { reason: string; cwd: string } }
  /** `invented`: no message, file or result named the address before the model wrote it, so it could carry data away. */
  | { kind: "fetch"; url: string; invented: boolean }
  /** A tool of a server. `readOnly`: it only reads, by a claim of the server that the person trusts. */
  | { kind: "remote"; server: string; tool: string; readOnly: boolean }
  /** A sub-agent. `writes`: it may do what the session may; otherwise it only reads. */
  | { kind: "delegate"; writes: boolean }
  /** A tool of the program that the agent is part of. `readOnly`: it changes nothing, by the program's word. */
  | { kind: "program"; readOnly: boolean }
  /** Only the session's own state: always allowed. */
  | { kind: "session" };

/** Where whole outputs are kept. */
export type Artifacts = {
  /** Absolute folder, 0700. */
  folder: string;
  /** Creates an empty file (0600) with a running number as its name: `000123.txt`. Returns its absolute path. */
  create(extension: string): string;
  /** Does the same, and writes `text` to it. */
  write(extension: string, text: string): string;
};

/** A state of a file. `path`: absolute, links resolved. `hash`: of its bytes; "" for a missing file. */
export type KnownFile = { path: string; hash: string };

export type ToolContext = {
  toolUseId: string;
  /** Aborted when the user interrupts; the tool then ends within a second. */
  signal: AbortSignal;
  /** The log so far. */
  events: readonly LogEvent[];
  /** The approved access, with links as they were at approval. The tool touches nothing else. */
  access: Access;
  /** Tokens that the result may cost in the view. */
  budgetTokens: number;
  artifacts: Artifacts;
  /** Reports live output for the screen; the model never sees it. */
  onProgress(text: string): void;
  /**
   * A command waits at its terminal, and a person may take it over. Returns for how many milliseconds the call waits
   * for that before it ends with a report for the model. Absent where nobody is there.
   */
  onWaiting?: ((command: WaitingCommand) => number) | undefined;
};

export type ToolOutput = {
  content: ResultContent;
  isError?: boolean;
  /** Present when the call was refused before the tool ran. */
  rejected?: Rejection;
  /** The task list from here on. */
  tasks?: Task[];
  /** Absolute path of the whole output. */
  artifact?: string;
  stats?: ToolStats;
  /** For people: a diff, a last line. Never sent to the model. */
  display?: string;
  /** Absolute paths of the instruction files whose text it is: it stays in the context whatever is forgotten. */
  instructions?: string[];
};

/** A tool. Failures that the model can act on are results with `isError`; anything thrown is a bug. */
export type Tool = CallReader & {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** Returns what the call touches with links resolved, for the permission decision. */
  access(input: Record<string, unknown>): Access;
  run(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutput>;
};

/** A command that runs in the background of a session. `log`: the file with all its output. */
export type BackgroundJob = {
  pid: number;
  command: string;
  log: string;
  state: "running" | "ended";
  kept: boolean;
};

/** Fate of a job that shall outlive its session. What runs in a sandbox can end with it. */
export type KeepOutcome = "kept" | "not_running" | "ends_with_sandbox";

export type BackgroundJobs = {
  list(): BackgroundJob[];
  /** Ends a job and what it started; false when there is no such job. */
  stop(pid: number): Promise<boolean>;
  /** Lets a job outlive the session. */
  keep(pid: number): KeepOutcome;
};

/** The session's log. An appended event is durable before listeners are called. */
export type EventLog = {
  append(body: EventBody): LogEvent;
  /** Returns all events as one live array: it grows with each append, so keep its length to look back. */
  events(): readonly LogEvent[];
  subscribe(listener: (event: LogEvent) => void): () => void;
};

/** The only thing a model's `send` throws. */
export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  readonly status: number | undefined;
  /** The delay that the server asked for. */
  readonly retryAfterMs: number | undefined;
  /** Complete blocks (and begun text) of a reply that the user interrupted. */
  readonly partial: AssistantBlock[];

  constructor(
    kind: ModelErrorKind,
    message: string,
    details: { status?: number; retryAfterMs?: number; partial?: AssistantBlock[] } = {},
  ) {
    super(message);
    this.name = "ModelError";
    this.kind = kind;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.partial = details.partial ?? [];
  }
}
