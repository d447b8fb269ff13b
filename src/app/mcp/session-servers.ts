/**
 * The servers of tools (MCP) of the person, and those of the project that they allowed, made ready for a session. Nothing
 * of them is loaded where there is none.
 */

import type { Settings } from "../../config/settings.ts";
import { started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { OpenSession } from "../../session/store.ts";
import type { SessionPlugins } from "../plugins/session-plugins.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import type { OpenOptions } from "../session.ts";
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

/** Returns the servers of the settings; undefined where there is none, or the session began without. */
export async function configuredServers(parts: Parts): Promise<SessionServers | undefined> {
  const { session, options, workspace, sandbox } = parts;
  const { env, warn } = options;
  if (options.withoutTools || options.delegate) return undefined;
  const { entries, expanded, literal } = entriesOf(parts);
  if (Object.keys(entries).length === 0) return undefined;
  const { openServers, usableOf } = await import("./open-servers.ts");
  const configurations = [...usableOf(expanded, env, warn), ...usableOf(literal, undefined, warn)];
  if (configurations.length === 0) return undefined;
  const { log, id, folder } = session;
  if (log.events().length > 0 && !started(log.events()).tools.some(({ name }) => name === toolNames.mcp)) {
    warn("this session began without MCP servers: a new one has them");
    return undefined;
  }
  const servers = openServers({
    ...{ configurations, env, folder, workspace, sandbox, warn },
    ...{ sessionId: id, entries, writable: parts.plugins.data, ask: options.person?.ask },
  });
  workBehindRequest(session, servers);
  return servers;
}

/**
 * Returns the entries by name: of the settings and the project, of who opened the session, and of plug-ins. Variables
 * stand for their values in those of `expanded` only.
 */
function entriesOf(parts: Parts) {
  const { options, settings, plugins } = parts;
  const { servers: given = {} } = options;
  const configured = { ...entriesOfProject(parts), ...settings.mcpServers };
  const own = Object.entries(configured).filter(([name]) => !Object.hasOwn(given, name));
  const ofPlugins = Object.entries(plugins.servers).filter(
    ([name]) => !Object.hasOwn(configured, name) && !Object.hasOwn(given, name),
  );
  return {
    entries: { ...plugins.servers, ...configured, ...given },
    expanded: Object.fromEntries(own),
    literal: { ...given, ...Object.fromEntries(ofPlugins) },
  };
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

/** Milliseconds after a request began to leave: by then no work of ours delays it. */
const behindRequest = { connect: 20, write: 250 };

/** Connects to new servers and writes the files about tools while the model thinks, so that no request waits for them. */
function workBehindRequest({ log }: OpenSession, { connectNew, writeFiles }: SessionServers): void {
  const stop = log.subscribe(({ type }) => {
    if (type !== "model_request") return;
    stop();
    setTimeout(connectNew, behindRequest.connect).unref();
    setTimeout(writeFiles, behindRequest.write).unref();
  });
}
