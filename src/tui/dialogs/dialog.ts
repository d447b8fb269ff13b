/** A question to the user: the possible answers, and the effect of each key. Pure. */

import { toolNames } from "../../core/tool-calls.ts";
import type { RuleScope } from "../../permissions/rules.ts";
import { type Editor, edit, emptyEditor } from "../input/editor.ts";
import type { Key } from "../input/keys.ts";
import type { Answer, Confirmation, Question } from "../ports/session.ts";
import { type Form, formOf, onFormKey } from "./form.ts";

/** An open question. `choice`: index of the marked answer. `instead`: the text typed after "no". `form`: to fill in. */
export type PendingQuestion = {
  id: number;
  question: Question | Confirmation;
  choice: number;
  instead?: Editor;
  form?: Form;
};

/** The effect of a key: an answer, or a changed dialog. */
export type Reaction = { answer: Answer } | { pending: PendingQuestion } | undefined;

/** A possible answer. `where`: the place that would store it. */
export type Choice = {
  label: string;
  short: string;
  answer: Answer | "instead";
  keys: string[];
  where?: string;
};

const scopes: { scope: RuleScope; label: string; short: string; key: string }[] = [
  { scope: "session", label: "Yes, always in this session", short: "session", key: "a" },
  { scope: "project", label: "Yes, always in this project", short: "project", key: "p" },
  { scope: "user", label: "Yes, always in every project", short: "all", key: "u" },
];

const yes: Choice = { label: "Yes", short: "yes", answer: { decision: "allow" }, keys: ["y"] };
const yesOrNo: Choice[] = [
  yes,
  { label: "No", short: "no", answer: { decision: "deny", say: "" }, keys: ["n"] },
];

/**
 * The answers about a connection. It waits, so there is nothing to type; a host is not allowed for every project at
 * once.
 */
function connectionWays(remembered: Choice[]): Choice[] {
  return [
    { label: "Yes, once", short: "once", answer: { decision: "allow" }, keys: ["y"] },
    ...remembered.filter(({ short }) => short !== "all"),
    { label: "No", short: "no", answer: { decision: "deny", say: "" }, keys: ["n"] },
  ];
}

export function isConfirmation(question: Question | Confirmation): question is Confirmation {
  return "rows" in question;
}

/**
 * Opens a question. A confirmation starts on no, and so do a question that may come while somebody types, and one about
 * leaving the sandbox, which may take the place of another, so that a stray Enter changes nothing.
 */
export function pendingQuestion(id: number, question: Question | Confirmation): PendingQuestion {
  const startsOnNo =
    isConfirmation(question) ||
    question.connection ||
    question.changes ||
    question.elicitation ||
    goesOut(question);
  const fields = isConfirmation(question) ? undefined : question.elicitation?.fields;
  return {
    ...{ id, question, choice: startsOnNo ? choicesOf(question).length - 1 : 0 },
    ...(fields ? { form: formOf(fields) } : {}),
  };
}

/** Returns true for a command that leaves the sandbox, and for a page: both are allowed for one project at most. */
function goesOut({ outside, toolName }: Question): boolean {
  return outside !== undefined || toolName === toolNames.fetch;
}

/** Returns the possible answers, in display order. */
export function choicesOf(question: Question | Confirmation): Choice[] {
  if (isConfirmation(question) || question.elicitation) return yesOrNo;
  const { suggestion, locations } = question;
  const remembered = scopes.map(
    ({ scope, label, short, key }): Choice => ({
      ...{ label, short, keys: [key] },
      answer: { decision: "allow", remember: { rule: suggestion ?? "", scope } },
      ...(locations ? { where: locations[scope] } : {}),
    }),
  );
  if (question.connection) return connectionWays(suggestion ? remembered : []);
  // A connection that nobody answered for closes its question, and this one may follow: the same digit is a no in both.
  const kept = goesOut(question) ? remembered.filter(({ short }) => short !== "all") : remembered;
  return [
    question.changes
      ? yes
      : { label: "Yes, once", short: "once", answer: { decision: "allow" }, keys: ["y"] },
    ...(suggestion ? kept : []),
    { label: "No, and tell it what to do instead", short: "no …", answer: "instead", keys: ["n"] },
  ];
}

/** Handles a key: digits and letters choose at once, arrows move the mark, Enter takes the marked answer. */
export function onDialogKey(pending: PendingQuestion, key: Key, columns: number): Reaction {
  if (pending.instead) return onInsteadKey(pending, pending.instead, key, columns);
  if (pending.form) {
    const reaction = onFormKey(pending.form, key, columns);
    return reaction && ("form" in reaction ? { pending: { ...pending, form: reaction.form } } : reaction);
  }
  const choices = choicesOf(pending.question);
  if (key.type === "text") {
    const index = choices.findIndex(
      ({ keys }, at) => key.text === String(at + 1) || keys.includes(key.text.toLowerCase()),
    );
    return index < 0 ? undefined : taken(pending, choices[index]);
  }
  if (key.type === "paste") return undefined;
  switch (key.key) {
    case "up":
    case "left":
      return { pending: { ...pending, choice: Math.max(0, pending.choice - 1) } };
    case "down":
    case "right":
    case "tab":
      return { pending: { ...pending, choice: Math.min(choices.length - 1, pending.choice + 1) } };
    case "enter":
      return taken(pending, choices[pending.choice]);
    default:
      return undefined;
  }
}

function taken(pending: PendingQuestion, choice: Choice | undefined): Reaction {
  if (!choice) return undefined;
  return choice.answer === "instead"
    ? { pending: { ...pending, instead: emptyEditor } }
    : { answer: choice.answer };
}

function onInsteadKey(pending: PendingQuestion, instead: Editor, key: Key, columns: number): Reaction {
  if (key.type === "key" && key.key === "enter")
    return { answer: { decision: "deny", say: instead.text.trim() } };
  if (key.type === "key" && key.key === "escape") {
    const { instead: _, ...rest } = pending;
    return { pending: rest };
  }
  const edited = edit(instead, key, columns);
  return edited && { pending: { ...pending, instead: edited } };
}

/** Reads a whole line as an answer: a number or a letter; "instead" requests another line. */
export function answerOf(question: Question | Confirmation, line: string): Answer | "instead" | undefined {
  const word = line.trim().toLowerCase();
  return choicesOf(question).find(({ keys }, index) => word === String(index + 1) || keys.includes(word))
    ?.answer;
}
