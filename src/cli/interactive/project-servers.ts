/** Asks, before a session begins, about the servers that the project offers and nobody has decided on. Loaded only then. */

import { join } from "node:path";
import { judgedServers, waitingServers } from "../../app/mcp/project-trust.ts";
import { type Decision, reviewServers } from "../../app/mcp/review.ts";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { readSettings } from "../../config/settings.ts";
import type { Tui } from "../../tui/ports/session.ts";
import type { PickItem } from "../../tui/ports/sessions.ts";
import { writeOut } from "../terminal-output.ts";

/** Shows each server in full and lets the person decide. Throws `SettingsError`. */
export async function askAboutServers(tui: Tui, env: NodeJS.ProcessEnv): Promise<void> {
  const workspace = workspaceRoot(process.cwd());
  const judged = judgedServers(workspace, env);
  const { mcpServers = {} } = readSettings(join(folders(env).config, "settings.json"));
  const waiting = waitingServers(judged, new Set(Object.keys(mcpServers)));
  await reviewServers(
    judged,
    waiting,
    { workspace, env },
    {
      show: (text) => tui.lend(async () => writeOut(`${text}\n`)),
      decide: async (name) =>
        (await tui.pick({
          title: `Use the server ${name} of this project, as shown above?`,
          items,
          few: true,
          enter: "chooses",
          empty: "",
        })) as Decision | undefined,
      warn: tui.warn,
    },
  );
}

const items: (PickItem & { id: Decision })[] = [
  { id: "later", label: "Not now", facts: ["asks at the next start"] },
  { id: "use", label: "Use it", facts: ["until its entry changes"] },
  { id: "never", label: "Do not use it", facts: ["until its entry changes"] },
];
