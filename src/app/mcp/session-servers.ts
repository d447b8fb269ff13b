/** The person's servers of tools (MCP), made ready for a session. Nothing of them is loaded where none is configured. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import type { Settings } from "../../config/settings.ts";
import { started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { OpenSession } from "../../session/store.ts";
import { packageVersion } from "../prompts.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import type { OpenOptions } from "../session.ts";

type Parts = {
  session: OpenSession;
  options: OpenOptions;
  settings: Settings;
  sandbox: Pick<SessionSandbox, "forServer">;
  /** Folder that servers start in. */
  workspace: string;
};

/** Returns the folder that keeps the catalogues of servers. */
export function catalogueFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(folders(env).state, "mcp");
}

/** Returns the servers of the settings; undefined where there is none, or the session began without. */
export async function configuredServers(parts: Parts): Promise<SessionServers | undefined> {
  const { session, options, settings } = parts;
  const { env, warn } = options;
  const given = options.servers ?? {};
  if ((!settings.mcpServers && Object.keys(given).length === 0) || options.withoutTools) return undefined;
  const { serversOf } = await import("../../mcp/configuration.ts");
  const own = Object.entries(settings.mcpServers ?? {}).filter(([name]) => !(name in given));
  const found = [serversOf(Object.fromEntries(own), env), serversOf(given, undefined)];
  for (const { problems } of found) for (const problem of problems) warn(problem);
  const configurations = found.flatMap(({ servers }) => servers);
  if (configurations.length === 0) return undefined;
  const { log, id, folder } = session;
  if (log.events().length > 0 && !started(log.events()).tools.some(({ name }) => name === toolNames.mcp)) {
    warn("this session began without MCP servers: a new one has them");
    return undefined;
  }
  const { createServers } = await import("../../mcp/servers.ts");
  const { serverStarter } = await import("./start-server.ts");
  const servers = createServers({
    configurations,
    folder: join(folder, "mcp"),
    cache: catalogueFolder(env),
    version: packageVersion(),
    start: serverStarter({ env, sessionId: id, folder, workspace: parts.workspace, sandbox: parts.sandbox }),
    warn,
  });
  connectBehindRequest(session, servers);
  return servers;
}

/** Connects to new servers while the model thinks, so that no request waits for them. */
function connectBehindRequest({ log }: OpenSession, { connectNew }: SessionServers): void {
  const stop = log.subscribe(({ type }) => {
    if (type !== "model_request") return;
    stop();
    setTimeout(connectNew, 20).unref();
  });
}
