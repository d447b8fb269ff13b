/** The prompts of the servers of a session: a list for completion, and the message that a typed one makes. */

import { argumentHint, commandWord, typedPrompt } from "../../mcp/prompt-words.ts";
import type { PromptIo } from "../../mcp/prompts.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import { shownLine } from "../../mcp/shown.ts";
import type { ServerPrompt } from "../../tui/ports/session.ts";

/** Lists the prompts by the words that start them. Nothing is started. */
export function promptsOf(servers: SessionServers | undefined): ServerPrompt[] {
  return (servers?.names ?? []).flatMap((server) =>
    (servers?.promptsOf(server) ?? []).map((prompt) => ({
      name: commandWord(server, prompt),
      description: shownLine(prompt.description, 200),
      hint: argumentHint(prompt),
    })),
  );
}

/**
 * Returns the message of the prompt that a line starts, or why there is none; undefined for a line that names no server
 * of the session.
 */
export async function startedPrompt(line: string, servers: SessionServers | undefined, io: PromptIo) {
  const typed = servers && typedPrompt(line, servers.names);
  if (!typed) return undefined;
  const { fillPrompt } = await import("../../mcp/prompts.ts");
  return fillPrompt(typed, servers, io);
}
