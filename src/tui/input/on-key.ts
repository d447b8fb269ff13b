/** Handles a key, depending on what is open: the dialog, the details, a search, a completion, or the editor. Pure. */

import { permissionModes } from "../../core/decision.ts";
import {
  type Change,
  change,
  completed,
  type Effect,
  needsFiles,
  type State,
  said,
  withQueueBack,
} from "../app/state.ts";
import { isConfirmation, onDialogKey } from "../dialogs/dialog.ts";
import { commandIn } from "./command-line.ts";
import { accept, moveChoice } from "./completion.ts";
import { draggedPictures } from "./dragged.ts";
import { edit, editorWith, emptyEditor, wholeText } from "./editor.ts";
import type { Key } from "./keys.ts";
import { remembered, search, step } from "./recall.ts";

/** Two presses within this many milliseconds count as one gesture. */
const gesture = 1000;
/** Keys keep going to the editor after a question appears, until a pause of this many milliseconds. */
const typingPause = 700;
/** Columns before the text of the editor. */
export const promptColumns = 2;

/** Handles a key. `now`: milliseconds since 1970. */
export function onKey(before: State, key: Key, now: number): Change {
  const name = key.type === "key" ? key.key : "";
  const pressed = {
    any: now,
    ctrlC: name === "ctrl-c" ? before.pressed.ctrlC : 0,
    escape: name === "escape" ? before.pressed.escape : 0,
  };
  const state: State = { ...before, notice: undefined, pressed };
  const everywhere = onGlobalKey(state, name, now);
  if (everywhere) return everywhere;
  if (state.details) return onDetailsKey(state, name);
  const question = state.questions[0];
  const typing =
    state.editor.text !== "" &&
    now - before.pressed.any < typingPause &&
    !question?.instead &&
    !question?.form?.touched;
  if (question && !typing) return onQuestionKey(state, question, key);
  if (state.search) return onSearchKey(state, key);
  return (state.completion && onCompletionKey(state, name)) ?? onEditorKey(state, key, name);
}

function room({ size }: State): number {
  return size.columns - promptColumns;
}

function onGlobalKey(state: State, name: string, now: number): Change | undefined {
  switch (name) {
    case "ctrl-c":
      return onCtrlC({ ...state, pressed: { ...state.pressed, ctrlC: now } }, now - state.pressed.ctrlC);
    case "ctrl-d":
      return state.editor.text === "" ? change(state, [], [{ type: "quit" }]) : undefined;
    case "ctrl-z":
      return change(state, [], [{ type: "suspend" }]);
    case "ctrl-]":
      return change(
        { ...state, details: undefined },
        [],
        state.terminal && !state.terminal.taken ? [{ type: "take_over" }] : [],
      );
    case "ctrl-l":
      return change(state, [], [{ type: "redraw" }]);
    case "ctrl-o":
      return change({ ...state, details: state.details ? undefined : { back: 0, scroll: 0 } });
    case "shift-tab": {
      if (state.questions[0]?.form) return undefined;
      const mode =
        permissionModes[(permissionModes.indexOf(state.mode) + 1) % permissionModes.length] ?? "ask";
      return change({ ...state, mode }, [], [{ type: "mode", mode }]);
    }
    case "ctrl-t": {
      const showThinking = !state.transcript.showThinking;
      const notice = showThinking
        ? "thinking is shown in full from now on"
        : "thinking is shortened to one line from now on";
      return change({ ...state, transcript: { ...state.transcript, showThinking }, notice });
    }
    case "escape":
      return onEscape({ ...state, pressed: { ...state.pressed, escape: now } }, now - state.pressed.escape);
    default:
      return undefined;
  }
}

/** Clears the input, else interrupts, else warns; the second press within a second quits. */
function onCtrlC(state: State, since: number): Change {
  if (since < gesture) return change(state, [], [{ type: "quit" }]);
  const [question] = state.questions;
  if (question && isConfirmation(question.question))
    return refused({ ...state, notice: "Ctrl-C again quits" });
  if (state.editor.text !== "" || state.search) {
    const recall = remembered(state.recall, wholeText(state.editor));
    return change({
      ...state,
      editor: emptyEditor,
      search: undefined,
      completion: undefined,
      recall,
      notice: "Ctrl-C again quits",
    });
  }
  if (state.busy && !state.busy.stopping) return interrupted({ ...state, notice: "Ctrl-C again quits" });
  return change({ ...state, notice: "Ctrl-C again quits" });
}

function interrupted(state: State): Change {
  const busy = state.busy && { ...state.busy, stopping: true };
  const questions = state.questions.filter(({ question }) => isConfirmation(question));
  return change(withQueueBack({ ...state, busy, questions }), [], [{ type: "interrupt" }]);
}

function refused(state: State): Change {
  const [question, ...others] = state.questions;
  const answer: Effect[] = question
    ? [{ type: "answer", id: question.id, answer: { decision: "deny", say: "" } }]
    : [];
  return change({ ...state, questions: others }, [], answer);
}

/** Closes the open element, else interrupts; twice without a turn in an empty editor goes back in the conversation. */
function onEscape(state: State, since: number): Change | undefined {
  if (state.details) return change({ ...state, details: undefined });
  const [question] = state.questions;
  if (question?.instead || question?.form) return undefined;
  if (question && isConfirmation(question.question)) return refused(state);
  if (state.search) return change({ ...state, search: undefined });
  if (state.completion) return change({ ...state, completion: undefined });
  if (state.busy) return state.busy.stopping ? change(state) : interrupted(state);
  const rewinds =
    since < gesture && state.editor.text === "" && state.commands.some(({ name }) => name === "rewind");
  return change(state, [], rewinds ? [{ type: "command", text: "/rewind" }] : []);
}

function onDetailsKey(state: State, name: string): Change {
  const { back, scroll } = state.details ?? { back: 0, scroll: 0 };
  const page = Math.max(1, state.size.rows - 6);
  const to = (details: State["details"]) => change({ ...state, details });
  switch (name) {
    case "up":
      return to({ back, scroll: Math.max(0, scroll - 1) });
    case "down":
      return to({ back, scroll: scroll + 1 });
    case "pageup":
      return to({ back, scroll: Math.max(0, scroll - page) });
    case "pagedown":
      return to({ back, scroll: scroll + page });
    case "left":
      return to({ back: back + 1, scroll: 0 });
    case "right":
      return to({ back: Math.max(0, back - 1), scroll: 0 });
    default:
      return to(undefined);
  }
}

function onQuestionKey(state: State, question: State["questions"][0] & object, key: Key): Change {
  const reaction = onDialogKey(question, key, state.size.columns - 6);
  if (!reaction) return change(state);
  const [, ...others] = state.questions;
  if ("pending" in reaction) return change({ ...state, questions: [reaction.pending, ...others] });
  return change(
    { ...state, questions: others },
    [],
    [{ type: "answer", id: question.id, answer: reaction.answer }],
  );
}

function onSearchKey(state: State, key: Key): Change {
  const found = state.search ?? { query: "" };
  const searching = (query: string, before?: number) =>
    change({ ...state, search: search(state.recall, query, before) });
  if (key.type === "text") return searching(found.query + key.text);
  if (key.type === "key" && key.key === "ctrl-r")
    return found.at === undefined ? change(state) : searching(found.query, found.at);
  if (key.type === "key" && (key.key === "backspace" || key.key === "ctrl-h"))
    return searching(found.query.slice(0, -1));
  const text = found.at === undefined ? undefined : state.recall.items[found.at];
  const closed: State = {
    ...state,
    search: undefined,
    editor: text === undefined ? state.editor : editorWith(text),
  };
  if (key.type === "key" && key.key === "enter") return change(closed);
  return key.type === "key" ? onEditorKey(closed, key, key.key) : change(closed);
}

function onCompletionKey(state: State, name: string): Change | undefined {
  const { completion } = state;
  if (!completion) return undefined;
  const chosen = completion.items[completion.chosen];
  switch (name) {
    case "up":
    case "ctrl-p":
      return change({ ...state, completion: moveChoice(completion, -1) });
    case "down":
    case "ctrl-n":
      return change({ ...state, completion: moveChoice(completion, 1) });
    case "tab":
      return change({ ...state, editor: accept(state.editor, completion), completion: undefined });
    case "enter": {
      const accepted: State = { ...state, editor: accept(state.editor, completion), completion: undefined };
      const complete =
        completion.kind === "command" && (!chosen?.takesArgument || chosen.text === completion.query);
      return complete ? submitted(accepted) : change(accepted);
    }
    default:
      return undefined;
  }
}

function onEditorKey(state: State, key: Key, name: string): Change {
  switch (name) {
    case "enter":
      return onEnter(state);
    case "ctrl-r":
      return change({ ...state, search: { query: "" } });
    case "ctrl-v":
      return change(state, [], [{ type: "paste_picture" }]);
    case "ctrl-g":
      return change(state, [], [{ type: "edit_outside" }]);
    case "tab":
      return change(state);
  }
  const edited = edit(state.editor, withMentions(key, state.editor), room(state));
  if (edited) {
    const next = completed({ ...state, editor: edited });
    return change(next, [], needsFiles(next) ? [{ type: "load_files" }] : []);
  }
  if (name === "up" || name === "ctrl-p") return onUp(state);
  if (name === "down" || name === "ctrl-n") return recalled(state, 1);
  return change(state);
}

/** A picture that was dragged into the terminal is named as one that is typed. */
function withMentions(key: Key, { text: before, cursor }: State["editor"]): Key {
  const text = key.type === "paste" ? draggedPictures(key.text) : undefined;
  const gap = cursor > 0 && !/\s/.test(before[cursor - 1] ?? "") ? " " : "";
  return text === undefined ? key : { type: "text", text: gap + text };
}

/** Brings back queued text first, then earlier input. */
function onUp(state: State): Change {
  return state.queue.length > 0 ? change(withQueueBack(state)) : recalled(state, -1);
}

function recalled(state: State, by: 1 | -1): Change {
  const found = step(state.recall, by, state.editor.text);
  return found
    ? change({ ...state, recall: found.recall, editor: editorWith(found.text, state.editor.pastes) })
    : change(state);
}

/**
 * Handles Enter. A backslash before the cursor at the end of the text makes a new line, for terminals that know no
 * other way.
 */
function onEnter(state: State): Change {
  const { editor } = state;
  if (editor.text.endsWith("\\") && editor.cursor === editor.text.length) {
    const text = `${editor.text.slice(0, -1)}\n`;
    return change({ ...state, editor: { ...editor, text, cursor: text.length } });
  }
  return submitted(state);
}

function submitted(state: State): Change {
  const text = wholeText(state.editor);
  if (text.trim() === "") return change(state);
  const sent: State = {
    ...state,
    editor: emptyEditor,
    completion: undefined,
    recall: remembered(state.recall, text),
  };
  const remember: Effect = { type: "remember", text };
  const word = commandIn(text)?.name;
  if (word !== undefined) {
    if (!state.commands.some(({ name }) => name === word))
      return change({ ...state, notice: `Unknown command /${word}. Type /help for a list` });
    return change(sent, [], [remember, { type: "command", text: text.trim() }]);
  }
  if (/^!\s*\S/.test(text))
    return change(sent, [], [remember, { type: "shell", text: text.slice(1).trim() }]);
  return said(sent, text, [remember]);
}
