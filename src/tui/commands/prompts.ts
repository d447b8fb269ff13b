/** Prompts of MCP servers as commands: each says what its server makes of the arguments. */

import type { UserBlock } from "../../core/blocks.ts";
import type { ServerPrompt } from "../ports/session.ts";
import { safe } from "../rows/rows.ts";
import { busyNotice, type Command } from "./command.ts";

export function promptCommands(prompts: readonly ServerPrompt[]): Command[] {
  return prompts.map(({ name, description, hint }) => ({
    name,
    summary: safe(description) || "a prompt of an MCP server",
    ...(hint ? { argument: safe(hint) } : {}),
    async run(argument, { host, busy, notice, work, send }) {
      if (busy) return notice(busyNotice);
      let content: UserBlock[] = [];
      await work(`Asking for /${name}`, async (signal) => {
        content = await host.mcp.fill(name, argument, signal);
      });
      send(content);
    },
  }));
}
