/** Makes servers ready: what can be started of their entries, and the parts that they work with. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { credentialsFolder } from "../../credentials/keys.ts";
import { type ServerConfiguration, serversOf } from "../../mcp/configuration.ts";
import { createServers, type SessionServers } from "../../mcp/servers.ts";
import type { SessionPlugins } from "../plugins/session-plugins.ts";
import { packageVersion } from "../prompts.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import type { OpenOptions, Person } from "../session.ts";
import { elicitByPerson } from "./elicit.ts";
import { seenOffers } from "./seen-offers.ts";

/** Returns the folder that keeps the catalogues of servers. */
export function catalogueFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(folders(env).state, "mcp");
}

/** Returns the entries that can be used, and tells of the others. Without `env` nothing in them is expanded. */
export function usableOf(
  entries: Readonly<Record<string, unknown>>,
  env: OpenOptions["env"] | undefined,
  warn: (text: string) => void,
): ServerConfiguration[] {
  const { servers, problems } = serversOf(entries, env);
  for (const problem of problems) warn(problem);
  return servers;
}

type Opening = {
  /** Folder that servers start in. */
  workspace: string;
  sandbox: Pick<SessionSandbox, "forServer">;
  configurations: readonly ServerConfiguration[];
  /** Their entries by name, as they are written. */
  entries: Readonly<Record<string, object>>;
  env: OpenOptions["env"];
  /** Folders that a server may write besides those of commands, by its name. */
  writable?: SessionPlugins["data"];
  /** Names the processes of the servers. */
  sessionId: string;
  /** The session's own. */
  folder: string;
  /** Asks the person; undefined where nobody is there. */
  ask?: Person["ask"] | undefined;
  warn(text: string): void;
};

/** Creates servers. None is started yet. */
export function openServers(opening: Opening): SessionServers {
  const { configurations, entries, env, sessionId, folder, workspace, sandbox, warn } = opening;
  const { writable = {} } = opening;
  const place = { env, sessionId, folder, workspace, sandbox, writable };
  return createServers({
    configurations,
    folder: join(folder, "mcp"),
    cache: catalogueFolder(env),
    seen: seenOffers(entries, catalogueFolder(env)),
    credentials: credentialsFolder(folders(env).state),
    version: packageVersion(),
    elicit: elicitByPerson(opening.ask, warn),
    start: async (server) => (await import("./start-server.ts")).serverStarter(place)(server),
    warn,
  });
}
