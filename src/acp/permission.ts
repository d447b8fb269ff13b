/** A question to the user as the protocol asks it: the call in full, and the answers with the exact rule. Pure. */

import type {
  PermissionOption,
  RequestPermissionOutcome,
  ToolCallContent,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { toolNames } from "../core/tool-calls.ts";
import { type Choice, choicesOf, isConfirmation } from "../tui/dialogs/dialog.ts";
import { subjectRows } from "../tui/dialogs/subject.ts";
import type { Answer, Confirmation, Question } from "../tui/ports/session.ts";
import { literal, plain, type Row } from "../tui/rows/rows.ts";
import { callOf, fenced, textContent } from "./calls.ts";

/** A question, and the answers in the order of `options`. */
export type Asked = { toolCall: ToolCallUpdate; options: PermissionOption[]; answers: Answer[] };

/** `id`: of the call, or one for a question that belongs to none. `cwd`: the folder of the session. */
export function askedOf(question: Question | Confirmation, id: string, cwd: string): Asked {
  const choices = choicesOf(question);
  const suggestion = isConfirmation(question) ? undefined : question.suggestion;
  return {
    toolCall: { toolCallId: id, status: "pending", ...shown(question, cwd) },
    options: choices.map((choice, index) => optionOf(choice, index, suggestion)),
    answers: choices.map(({ answer }) => (answer === "instead" ? { decision: "deny", say: "" } : answer)),
  };
}

/** Returns the chosen answer; no where there is none. */
export function answerIn(outcome: RequestPermissionOutcome, { answers }: Pick<Asked, "answers">): Answer {
  const chosen = outcome.outcome === "selected" ? answers[Number(outcome.optionId)] : undefined;
  return chosen ?? { decision: "deny", say: "" };
}

/** The stored rule is part of the answer that stores it. */
function optionOf({ label, answer }: Choice, index: number, rule: string | undefined): PermissionOption {
  const optionId = String(index);
  if (answer === "instead" || answer.decision === "deny")
    return { optionId, name: "No", kind: "reject_once" };
  if (!answer.remember) return { optionId, name: label, kind: "allow_once" };
  return { optionId, name: `${label}: ${literal(rule ?? "")}`, kind: "allow_always" };
}

/** No columns: the client wraps. */
const columns = 10_000;

function shown(question: Question | Confirmation, cwd: string): Partial<ToolCallUpdate> {
  const rows = subjectRows(question, { cwd, columns });
  if (isConfirmation(question))
    return { title: question.title, kind: "other", content: [textContent(linesOf(rows))] };
  const { toolName, input, facts, reason, links = [], outside = [], connection } = question;
  const notes = [
    reason,
    ...links.map(({ path, target }) => `${literal(path)} leads to ${literal(target)}`),
    ...outside.map((note) => literal(note)),
  ];
  const why = textContent(notes.join("\n\n"));
  if (connection)
    return { title: connection.title, kind: "fetch", content: [textContent(fenced(linesOf(rows))), why] };
  const {
    toolCallId: _,
    status: __,
    content: diffs = [],
    ...call
  } = callOf("", { call: { name: toolName, input }, facts, cwd });
  const subject: ToolCallContent[] =
    toolName === toolNames.editor || rows.length === 0 ? diffs : [textContent(fenced(linesOf(rows)))];
  return { ...call, content: [...subject, why] };
}

function linesOf(rows: readonly Row[]): string {
  return rows.map(plain).join("\n");
}
