/**
 * The servers of tools (MCP) of the person, and those of the project that they allowed, made ready for a session. Nothing
 * of them is loaded where there is none.
 */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import type { Settings } from "../../config/settings.ts";
import { started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { credentialsFolder } from "../../credentials/keys.ts";
import type { ServerConfiguration } from "../../mcp/configuration.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { OpenSession } from "../../session/store.ts";
import type { SessionPlugins } from "../plugins/session-plugins.ts";
import { packageVersion } from "../prompts.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import type { OpenOptions, Person } from "../session.ts";
import { elicitByPerson } from "./elicit.ts";
import { allowedEntries, judgedServers, waitingServers } from "./project-trust.ts";

type Parts = {
  session: OpenSession;
  options: OpenOptions;
  settings: Settings;
  sandbox: Pick<SessionSandbox, "forServer">;
  /** Folder that servers start in. */
  workspace: string;
  /** Those of plug-ins come without variables to look up. */
  plugins: Pick<SessionPlugins, "servers" | "data">;
};

/** Returns the folder that keeps the catalogues of servers. */
export function catalogueFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(folders(env).state, "mcp");
}

/** Returns the servers of the settings; undefined where there is none, or the session began without. */
export async function configuredServers(parts: Parts): Promise<SessionServers | undefined> {
  const { session, options } = parts;
  const { env, warn } = options;
  if (options.withoutTools || options.delegate) return undefined;
  const { entries, configurations } = await configurationsOf(parts);
  if (configurations.length === 0) return undefined;
  const { log, id, folder } = session;
  if (log.events().length > 0 && !started(log.events()).tools.some(({ name }) => name === toolNames.mcp)) {
    warn("this session began without MCP servers: a new one has them");
    return undefined;
  }
  const { workspace, sandbox } = parts;
  const servers = await openServers({
    ...{ configurations, env, folder, workspace, sandbox, warn },
    ...{ sessionId: id, entries, writable: parts.plugins.data, ask: options.person?.ask },
  });
  connectBehindRequest(session, servers);
  return servers;
}

type Opening = Pick<Parts, "workspace" | "sandbox"> & {
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
export async function openServers(opening: Opening): Promise<SessionServers> {
  const { configurations, entries, env, sessionId, folder, workspace, sandbox, warn } = opening;
  const { writable = {} } = opening;
  const { createServers } = await import("../../mcp/servers.ts");
  const { seenOffers } = await import("./seen-offers.ts");
  const { serverStarter } = await import("./start-server.ts");
  return createServers({
    configurations,
    folder: join(folder, "mcp"),
    cache: catalogueFolder(env),
    seen: seenOffers(entries, catalogueFolder(env)),
    credentials: credentialsFolder(folders(env).state),
    version: packageVersion(),
    elicit: elicitByPerson(opening.ask, warn),
    start: serverStarter({ env, sessionId, folder, workspace, sandbox, writable }),
    warn,
  });
}

/** Returns what can be started: of the settings and the project, of who opened the session, and of plug-ins. */
async function configurationsOf(parts: Parts) {
  const { options, settings, plugins } = parts;
  const { env, warn, servers: given = {} } = options;
  const configured = { ...entriesOfProject(parts), ...settings.mcpServers };
  const own = Object.entries(configured).filter(([name]) => !Object.hasOwn(given, name));
  const entries = { ...plugins.servers, ...configured, ...given };
  if (Object.keys(entries).length === 0) return { entries, configurations: [] };
  const ofPlugins = Object.entries(plugins.servers).filter(
    ([name]) => !Object.hasOwn(configured, name) && !Object.hasOwn(given, name),
  );
  const { serversOf } = await import("../../mcp/configuration.ts");
  const found = [
    serversOf(Object.fromEntries(own), env),
    serversOf({ ...given, ...Object.fromEntries(ofPlugins) }, undefined),
  ];
  for (const { problems } of found) for (const problem of problems) warn(problem);
  return { entries, configurations: found.flatMap(({ servers }) => servers) };
}

/** Returns the entries of the project that the person allowed, and tells of those that wait for them. */
function entriesOfProject({ options, settings, workspace }: Parts): Record<string, Record<string, unknown>> {
  const { env, flags, warn, person } = options;
  if (flags.bare) return {};
  const judged = judgedServers(workspace, env);
  for (const note of judged.notes) warn(note);
  const waiting = waitingServers(judged, new Set(Object.keys(settings.mcpServers ?? {})));
  const names = waiting.map(({ name }) => name).join(", ");
  const how = person ? "/trust shows them" : "sawtooth mcp review shows them to a person, who decides";
  if (waiting.length > 0) warn(`not used from .mcp.json: ${names}; ${how}`);
  return allowedEntries(judged);
}

/** Connects to new servers while the model thinks, so that no request waits for them. */
function connectBehindRequest({ log }: OpenSession, { connectNew }: SessionServers): void {
  const stop = log.subscribe(({ type }) => {
    if (type !== "model_request") return;
    stop();
    setTimeout(connectNew, 20).unref();
  });
}
