/** Asks the person what a server asks in the middle of a call: a page to open, or a form to fill in. */

import { toolNames } from "../../core/tool-calls.ts";
import type { Elicitation } from "../../mcp/elicitation.ts";
import type { ServersOptions } from "../../mcp/servers.ts";
import type { AskedByServer } from "../../tui/ports/session.ts";
import type { Person } from "../session.ts";

/**
 * Returns the answer to questions of servers. Without a person each is declined, and told. Nothing is opened: the
 * address is shown.
 */
export function elicitByPerson(
  ask: Person["ask"] | undefined,
  warn: (text: string) => void,
): ServersOptions["elicit"] {
  return async (server, question, signal) => {
    const elicitation = askedOf(server, question);
    if (!ask) {
      const [words = ""] = question.message.split("\n");
      const page = question.kind === "url" ? ` (${question.url})` : "";
      warn(`MCP server ${server} asked a person, and nobody is here to answer: declined: ${words}${page}`);
      return { action: "decline" };
    }
    const answer = await ask(
      {
        ...{ toolName: toolNames.mcp, input: { server }, call: undefined },
        ...{ reason: "Only you can answer. No declines, and the call goes on without.", elicitation },
      },
      signal,
    );
    if (signal.aborted) return { action: "cancel" };
    if (answer.decision === "deny") return { action: answer.dismissed ? "cancel" : "decline" };
    return { action: "accept", content: answer.content ?? {} };
  };
}

function askedOf(server: string, question: Elicitation): AskedByServer {
  const lines = question.message.split("\n");
  if (question.kind === "url") {
    const title = `${server} wants you to open a page. Go on once you have done so?`;
    return { title, lines: [...lines, question.url], url: question.url };
  }
  return question.fields.length === 0
    ? { title: `${server} asks. Yes?`, lines }
    : { title: `${server} asks`, lines, fields: question.fields };
}
