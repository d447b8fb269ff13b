/** Connects the screen to the servers of a session, and to those of its project that wait for the person. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { readSettings } from "../../config/settings.ts";
import type { ServerActions } from "../../tui/ports/session.ts";
import type { Run } from "../session.ts";
import { decideServer, judgedServers, waitingServers } from "./project-trust.ts";
import { promptsOf, startedPrompt } from "./session-prompts.ts";

type Place = {
  env: Readonly<Record<string, string | undefined>>;
  workspace: string;
  /** The session takes nothing of the project. */
  isBare: boolean;
};

/** Creates the actions. What `allow` records is what `waiting` showed last, whatever the file says by then. */
export function serverActions({ servers, agent }: Run, { env, workspace, isBare }: Place): ServerActions {
  let shown: ReturnType<typeof waitingServers> = [];
  let file = "";
  return {
    list: () => servers?.states() ?? [],
    async restart(name) {
      if (!servers?.names.includes(name)) throw new Error(`there is no server ${name}`);
      await servers.restart(name);
    },
    prompts: () => promptsOf(servers),
    async fill(name, argument, signal) {
      const io = { signal, artifacts: agent.artifacts, onProgress: () => {} };
      const filled = await startedPrompt(`/${name} ${argument}`, servers, io);
      if (filled && "content" in filled) return filled.content;
      throw new Error(filled?.failure ?? `there is no prompt ${name}`);
    },
    async waiting() {
      if (isBare) return [];
      const { entryText } = await import("./review-text.ts");
      const judged = judgedServers(workspace, env);
      const { mcpServers = {} } = readSettings(join(folders(env).config, "settings.json"));
      shown = waitingServers(judged, new Set(Object.keys(mcpServers)));
      file = judged.file;
      return shown.map((server) => ({
        name: server.name,
        text: entryText(server, { file, workspace, env }),
      }));
    },
    allow(name) {
      const server = shown.find((one) => one.name === name);
      if (server) decideServer(server, file, true, env);
    },
  };
}
