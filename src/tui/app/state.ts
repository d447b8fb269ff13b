/** The whole state of the screen as one value, and its changes by events, parts and keys. Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import type { LogEvent, TurnEnd } from "../../core/events.ts";
import type { ModelPart } from "../../core/ports.ts";
import { knownTasks } from "../../core/task-list.ts";
import { type CallFacts, toolNames } from "../../core/tool-calls.ts";
import type { PermissionMode } from "../../permissions/decide.ts";
import { turnSummary } from "../blocks/event-rows.ts";
import { type Facts, factsOf, turnStart } from "../blocks/status.ts";
import type { RowContext } from "../blocks/tool-rows.ts";
import { addEvent, addPart, block, emptyTranscript, type Transcript } from "../blocks/transcript.ts";
import { type PendingQuestion, pendingQuestion } from "../dialogs/dialog.ts";
import {
  type Completion,
  completionFor,
  type Prepared,
  type Sources,
  wantsFiles,
} from "../input/completion.ts";
import { type Editor, edit, editorWith, emptyEditor } from "../input/editor.ts";
import { type Recall, recallOf, type Search } from "../input/recall.ts";
import type { Answer, Confirmation, Question } from "../ports/session.ts";
import { type Row, type Size, wrap } from "../rows/rows.ts";
import type { ShownTerminal } from "./terminal-rows.ts";

/** A running call. `output`: the end of its output. `facts`: of a tool that core does not know. */
export type RunningCall = {
  call: ToolUseBlock;
  since: number;
  output: string;
  facts?: CallFacts | undefined;
};

/** The model's activity: it streams a reply, or waits until `until` to retry. */
export type Activity =
  | { type: "waiting" | "thinking" | "writing" }
  | { type: "calling"; name: string }
  | { type: "retrying"; until: number; why: string };

export type State = {
  size: Size;
  editor: Editor;
  recall: Recall;
  search?: Search | undefined;
  completion?: Completion | undefined;
  files: readonly Prepared[] | undefined;
  commands: Sources["commands"];
  /** Typed during a turn; sent at the next step. */
  queue: string[];
  questions: PendingQuestion[];
  transcript: Transcript;
  running: RunningCall[];
  /** Describes a call of a tool that core does not know; its result will record the same. */
  describe?: ((call: ToolUseBlock) => CallFacts | undefined) | undefined;
  activity: Activity;
  /** Set while a turn, a shell line of the user or a long command runs. `what`: the work of a command. */
  busy?: { since: number; stopping: boolean; turn: boolean; what?: string | undefined } | undefined;
  mode: PermissionMode;
  location: { cwd: string; shortCwd: string; branch?: string | undefined };
  facts: Facts;
  tasks?: string | undefined;
  /** The call shown in the details view, counted from the newest, and its first row. */
  details?: { back: number; scroll: number } | undefined;
  /** The terminal of the command that waits for input. */
  terminal?: ShownTerminal | undefined;
  /** One line that disappears with the next key. */
  notice?: string | undefined;
  pressed: { ctrlC: number; escape: number; any: number };
};

/** An effect that the reducer requests and the app carries out. */
export type Effect =
  | { type: "submit" | "shell" | "command" | "remember"; text: string }
  | {
      type:
        | "interrupt"
        | "quit"
        | "suspend"
        | "edit_outside"
        | "paste_picture"
        | "load_files"
        | "redraw"
        | "take_over";
    }
  | { type: "mode"; mode: PermissionMode }
  | { type: "answer"; id: number; answer: Answer };

export type Action =
  | { type: "event"; event: LogEvent; events: readonly LogEvent[] }
  | { type: "part"; part: ModelPart; now: number }
  | { type: "progress"; id: string; text: string }
  | { type: "asked"; id: number; question: Question | Confirmation }
  | { type: "withdrawn"; id: number }
  | { type: "turn_started"; now: number; what?: string }
  | { type: "turn_over"; reason: TurnEnd }
  | { type: "shell_started"; command: string; now: number }
  | { type: "shell_over" }
  | { type: "steered" }
  | { type: "say"; text: string }
  | { type: "commands"; commands: Sources["commands"] }
  | { type: "branch"; branch: string | undefined }
  | { type: "files"; files: readonly Prepared[] }
  | { type: "written"; text: string }
  | { type: "inserted"; text: string }
  | { type: "print"; rows: Row[] }
  | { type: "notice"; text: string }
  | { type: "terminal"; terminal?: ShownTerminal }
  | { type: "mode"; mode: PermissionMode }
  | { type: "size"; size: Size };

/** The next state, rows for the history, and the effects to carry out. */
export type Change = { state: State; rows: Row[]; effects: Effect[] };

export type Beginning = Pick<State, "size" | "mode" | "location" | "commands" | "describe"> & {
  typed: readonly string[];
  events: readonly LogEvent[];
};

export function initialState({ typed, events, ...given }: Beginning): State {
  return {
    ...given,
    editor: emptyEditor,
    recall: recallOf(typed),
    files: undefined,
    queue: [],
    questions: [],
    transcript: { ...emptyTranscript(), last: "text" },
    facts: factsOf(events),
    tasks: knownTasks(events),
    running: [],
    activity: { type: "waiting" },
    pressed: { ctrlC: 0, escape: 0, any: 0 },
  };
}

export function rowContextOf({ size, location }: State): RowContext {
  return { cwd: location.cwd, columns: size.columns };
}

export function change(state: State, rows: Row[] = [], effects: Effect[] = []): Change {
  return { state, rows, effects };
}

/** Reduces an action other than a key. */
export function reduce(state: State, action: Action): Change {
  switch (action.type) {
    case "event":
      return onEvent(state, action.event, action.events);
    case "part": {
      const { transcript, rows } = addPart(state.transcript, action.part, rowContextOf(state));
      return change({ ...state, transcript, activity: activityAfter(action.part, action.now) }, rows);
    }
    case "progress":
      return change({ ...state, running: withOutput(state.running, action.id, action.text) });
    case "asked":
      return change(withQuestion(state, pendingQuestion(action.id, action.question)));
    case "withdrawn":
      return change({ ...state, questions: state.questions.filter(({ id }) => id !== action.id) });
    case "turn_started":
      return change({
        ...state,
        busy: { since: action.now, stopping: false, turn: true, what: action.what },
        activity: { type: "waiting" },
      });
    case "turn_over":
      return onTurnOver(state, action.reason);
    case "shell_started":
      return change(withShell(state, action.command, action.now));
    case "shell_over": {
      const running = state.running.filter(({ call }) => call.id !== shellId);
      return state.busy?.turn
        ? change({ ...state, running })
        : onTurnOver({ ...state, running }, "completed");
    }
    case "steered":
      return change({ ...state, queue: [] });
    case "say":
      return said(state, action.text);
    case "commands":
      return change({ ...state, commands: action.commands });
    case "branch":
      return change({ ...state, location: { ...state.location, branch: action.branch } });
    case "files":
      return change(completed({ ...state, files: action.files }));
    case "written":
      return change({ ...state, editor: editorWith(action.text, state.editor.pastes) });
    case "inserted":
      return change({ ...state, editor: withText(state, action.text) });
    case "print": {
      const { transcript, rows } = block(state.transcript, "note", action.rows);
      return change({ ...state, transcript: { ...transcript, last: "text" } }, rows);
    }
    case "notice":
      return change({ ...state, notice: action.text });
    case "terminal":
      return change({ ...state, terminal: action.terminal });
    case "mode":
      return change({ ...state, mode: action.mode });
    case "size":
      return change({ ...state, size: action.size });
  }
}

function withQuestion(state: State, question: State["questions"][number]): State {
  return { ...state, questions: [...state.questions, question] };
}

function withOutput(running: RunningCall[], id: string, output: string): RunningCall[] {
  return running.map((each) => (each.call.id === id ? { ...each, output } : each));
}

/** Sends a text to the model at once, or queues it for the next step. */
export function said(state: State, text: string, effects: Effect[] = []): Change {
  return state.busy
    ? change({ ...state, queue: [...state.queue, text] }, [], effects)
    : change(state, [], [...effects, { type: "submit", text }]);
}

/** Returns the editor with a text at its cursor. */
function withText({ editor, size }: State, text: string): Editor {
  return edit(editor, { type: "text", text }, size.columns) ?? editor;
}

/** Id of the user's shell line among the running calls. */
export const shellId = "!";

function withShell(state: State, command: string, now: number): State {
  const call: ToolUseBlock = { type: "tool_use", id: shellId, name: toolNames.bash, input: { command } };
  const busy = state.busy ?? { since: now, stopping: false, turn: false };
  return { ...state, busy, running: [...state.running, { call, since: now, output: "" }] };
}

function onEvent(state: State, event: LogEvent, events: readonly LogEvent[]): Change {
  const { transcript, rows } = addEvent(state.transcript, event, events, rowContextOf(state));
  const next: State = {
    ...state,
    transcript,
    running: runningAfter(state, event),
    facts: factsOf(events),
    tasks: event.type === "tool_result" || event.type === "reminder" ? knownTasks(events) : state.tasks,
    ...(event.type === "tool_result" || event.type === "model_request"
      ? { activity: { type: "waiting" as const } }
      : {}),
  };
  if (event.type !== "turn_ended") return change(next, rows);
  const summary = turnSummary(events.slice(turnStart(events)), next.facts.turnCost);
  if (!summary) return change(next, rows);
  const { columns } = state.size;
  return change(next, [...rows, [], ...wrap([{ text: `  ${summary}`, tone: "dim" }], columns, "  ")]);
}

function runningAfter({ running, describe }: State, event: LogEvent): RunningCall[] {
  const shell = running.filter(({ call }) => call.id === shellId);
  switch (event.type) {
    case "assistant_message":
      return [
        ...shell,
        ...event.content
          .filter(isToolUse)
          .map((call) => ({ call, since: event.at, output: "", facts: describe?.(call) })),
      ];
    case "tool_result":
      return running.filter(({ call }) => call.id !== event.toolUseId);
    case "turn_ended":
      return shell;
    case "session_started":
    case "model_changed":
    case "session_named":
    case "settings_changed":
    case "user_message":
    case "permission_decided":
    case "context_edited":
    case "reminder":
    case "tools_gated":
    case "model_request":
    case "summary_call":
    case "model_failed":
    case "sandbox":
    case "quarantined":
    case "runs_elsewhere":
    case "egress":
    case "mcp_called":
    case "delegate_started":
    case "delegate_called":
    case "delegate_ended":
    case "warning":
      return running;
    default:
      return event satisfies never;
  }
}

function activityAfter(part: ModelPart, now: number): Activity {
  switch (part.type) {
    case "text_delta":
      return { type: "writing" };
    case "thinking_delta":
      return { type: "thinking" };
    case "tool_use_started":
      return { type: "calling", name: part.name };
    case "input_delta":
      return { type: "calling", name: "" };
    case "searched":
      return { type: "thinking" };
    case "attempt_failed":
      return { type: "retrying", until: now + part.waitMs, why: part.message };
  }
}

/** Sends the queued text, unless the turn failed: then it returns to the editor. */
function onTurnOver(state: State, reason: TurnEnd): Change {
  const { busy: _, ...rest } = state;
  // Questions of the turn were withdrawn with it; one that a command asks meanwhile stays.
  const over: State = { ...rest, running: [], activity: { type: "waiting" } };
  if (state.queue.length === 0) return change(over);
  if (reason === "completed" || reason === "interrupted")
    return change({ ...over, queue: [] }, [], [{ type: "submit", text: state.queue.join("\n\n") }]);
  return change(withQueueBack(over));
}

/** Puts the queued text before the text in the editor. */
export function withQueueBack(state: State): State {
  if (state.queue.length === 0) return state;
  const { editor } = state;
  const text = [...state.queue, editor.text].filter((part) => part !== "").join("\n\n");
  return { ...state, queue: [], editor: editorWith(text, editor.pastes) };
}

/** Returns the state with the completion for its editor. */
export function completed(state: State): State {
  const sources = { files: state.files, commands: state.commands };
  return { ...state, completion: completionFor(state.editor, sources, state.completion) };
}

export function needsFiles(state: State): boolean {
  return state.files === undefined && wantsFiles(state.editor);
}
