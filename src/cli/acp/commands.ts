/** The screen's slash commands in an editor: what they print is an answer, what they ask is a question of the protocol. */

import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { fenced } from "../../acp/calls.ts";
import type { Commands } from "../../acp/session.ts";
import type { Conversation } from "../../app/conversation.ts";
import type { SessionOptions } from "../../app/options.ts";
import type { UserBlock } from "../../core/blocks.ts";
import type { Command } from "../../tui/commands/command.ts";
import { commandsOf } from "../../tui/commands/commands.ts";
import { plain, type Row } from "../../tui/rows/rows.ts";
import { hostOf } from "../interactive/host.ts";

/** Those of the screen alone: the editor has its own ways to leave, choose and go back. */
const ofScreen = new Set(["help", "clear", "exit", "resume", "fork", "rewind", "model", "effort"]);
const columns = 100;

/** Returns the commands of a session. `changed`: called when the project's own are trusted. */
export function editorCommands(
  conversation: Conversation,
  { flags, root, changed }: { flags: SessionOptions; root: string; changed(): void },
): Commands {
  const host = hostOf(conversation, { flags, root });
  const all = (): Command[] => commandsOf(host).filter(({ name }) => !ofScreen.has(name));
  return {
    list: () => all().map(described),
    async run({ name, argument }, { busy, signal, confirm }) {
      const command = all().find((one) => one.name === name);
      if (!command) return undefined;
      const rows: Row[] = [];
      let say: UserBlock[] | undefined;
      const print = (more: Row[]): void => void rows.push(...more);
      const notice = (text: string): void => print([[{ text }]]);
      try {
        await command.run(argument, {
          ...{ host, columns, busy, print, notice, changed },
          commands: all(),
          events: host.log.events(),
          leave: () => notice("choose another session in the editor's own list"),
          pick: async () => undefined,
          say: (text) => {
            say = [{ type: "text", text }];
          },
          send: (content) => {
            if (content.length > 0) say = content;
          },
          confirm: (title, about) => confirm({ title, rows: about }),
          work: (_, action) => action(signal),
        });
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        notice(error.message);
      }
      const text = rows.map((row) => plain(row).trimEnd()).join("\n");
      return { text: text.trim() === "" ? "" : fenced(text), say };
    },
  };
}

function described({ name, summary, argument }: Command): AvailableCommand {
  return { name, description: summary, ...(argument ? { input: { hint: argument } } : {}) };
}
