/** Asks the person what a server asks in the middle of a call: a page to open, or a form as it stands. */

import { toolNames } from "../../core/tool-calls.ts";
import type { Elicitation, ElicitField, ElicitValue } from "../../mcp/elicitation.ts";
import type { ServersOptions } from "../../mcp/servers.ts";
import type { Person } from "../session.ts";

/**
 * Returns the answer to questions of servers. Without a person each is declined, and so is a form with an empty field
 * that must be filled in; the person is told of it. Nothing is opened: the address is shown.
 */
export function elicitByPerson(
  ask: Person["ask"] | undefined,
  warn: (text: string) => void,
): ServersOptions["elicit"] {
  return async (server, question, signal) => {
    if (!ask) return { action: "decline" };
    const content = question.kind === "form" ? contentOf(question.fields) : {};
    if (content === undefined) {
      warn(
        `MCP server ${server} asked for what only typing could answer, and was declined: ${question.message}`,
      );
      return { action: "decline" };
    }
    const answer = await ask(
      {
        ...{ toolName: toolNames.mcp, input: { server }, call: undefined },
        reason: "Only you can answer. No declines, and the call goes on without.",
        elicitation: { title: titleOf(server, question), lines: linesOf(question) },
      },
      signal,
    );
    if (signal.aborted) return { action: "cancel" };
    if (answer.decision === "deny") return { action: "decline" };
    return { action: "accept", content };
  };
}

function titleOf(server: string, question: Elicitation): string {
  return question.kind === "url"
    ? `${server} wants you to open a page. Go on once you have done so?`
    : `${server} asks. Send this?`;
}

function linesOf(question: Elicitation): string[] {
  const words = question.message.split("\n");
  if (question.kind === "url") return [...words, question.url];
  return [...words, ...question.fields.map((field) => `${field.title}: ${field.initial || "(empty)"}`)];
}

/** Returns the values that stand in a form; undefined where one is missing that must not be. */
function contentOf(fields: readonly ElicitField[]): Record<string, ElicitValue> | undefined {
  if (fields.some(({ required, initial }) => required && initial === "")) return undefined;
  const filled = fields.filter(({ initial }) => initial !== "");
  return Object.fromEntries(filled.map((field) => [field.key, typedValue(field)]));
}

function typedValue({ type, initial }: ElicitField): ElicitValue {
  if (type === "yes_no") return initial === "true";
  if (type === "number" || type === "integer") return Number(initial);
  return type === "some" ? initial.split(", ") : initial;
}
