/** The servers of tools (MCP) that the person configured and that the project offers, for people. Starts none. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { readSettings, type Settings } from "../../config/settings.ts";
import { projectRulesFile, readProjectRules } from "../../config/stored-rules.ts";
import { type Catalogue, readCatalogue } from "../../mcp/catalogue.ts";
import { isChanged } from "../../mcp/changes.ts";
import { type Servers, serversOf } from "../../mcp/configuration.ts";
import { rulesOn } from "../../permissions/remote.ts";
import { type SessionPlugins, sessionPlugins } from "../plugins/session-plugins.ts";
import { type EntryFacts, entryFacts } from "./entry-facts.ts";
import { catalogueFolder } from "./open-servers.ts";
import { allowedEntries, judgedServers, type Verdict, withoutGrants } from "./project-trust.ts";
import { seenOffers } from "./seen-offers.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `hidden`: a server of the settings has the same name; `unusable`: `problem` says why. The others of a project are those
 * that a person has not allowed.
 */
export type ServerState = "usable" | "disabled" | "unusable" | "hidden" | Exclude<Verdict, "allowed">;

export type ListedServer = EntryFacts & {
  name: string;
  from: "settings" | "project" | "plugin";
  state: ServerState;
  problem?: string;
  /** The offer of its last connection; undefined when there was none. */
  catalogue?: Catalogue | undefined;
  /** The offer that a person saw last, where the newest is another and waits for them. */
  seen?: Catalogue;
  /** Takes the newest offer as seen. */
  accept?: () => void;
  /** The rules on its tools. */
  allow: string[];
  deny: string[];
};

/** `settings`, `project`: the files. `notes`: what was not read of the project's. */
export type Listing = { settings: string; project: string; servers: ListedServer[]; notes: string[] };

/** Lists the servers. Throws `SettingsError` for settings that cannot be read. */
export async function listedServers({ env, cwd }: { env: Environment; cwd: string }): Promise<Listing> {
  const { config } = folders(env);
  const settingsFile = join(config, "settings.json");
  const settings = readSettings(settingsFile);
  const root = workspaceRoot(cwd);
  const project = judgedServers(root, env);
  const own = Object.entries(settings.mcpServers ?? {});
  const plugins = await pluginsOf(env);
  const rules = rulesOf(settings, config, root);
  const list = (name: string, entry: Record<string, unknown>) => ({
    ...{ name, ...entryFacts(entry, env) },
    ...{ allow: rulesOn(name, rules.allow), deny: rulesOn(name, rules.deny) },
  });
  const servers: ListedServer[] = [
    ...own.map(([name, entry]) => ({
      ...{ ...list(name, entry), from: "settings" as const },
      ...(entry.disabled === true ? { state: "disabled" as const } : usedState(name, entry, env, env)),
    })),
    ...project.servers.map(({ name, entry, verdict }) => ({
      ...{ ...list(name, withoutGrants(entry)), from: "project" as const },
      ...(own.some(([taken]) => taken === name)
        ? { state: "hidden" as const }
        : verdict === "allowed"
          ? usedState(name, withoutGrants(entry), env, env)
          : { state: verdict }),
    })),
    ...Object.entries(plugins.servers).map(([name, entry]) => ({
      ...{ ...list(name, entry), from: "plugin" as const },
      ...(own.some(([taken]) => taken === name)
        ? { state: "hidden" as const }
        : usedState(name, entry, env, undefined)),
    })),
  ];
  return { settings: settingsFile, project: project.file, servers, notes: project.notes };
}

function pluginsOf(env: Environment): Promise<SessionPlugins> {
  return sessionPlugins({ flags: { bare: false }, env, warn() {} });
}

/** The state of a server that may be started: its variables are looked up now, in `values`. */
function usedState(
  name: string,
  entry: Record<string, unknown>,
  env: Environment,
  values: Environment | undefined,
): Pick<ListedServer, "state" | "problem" | "catalogue" | "seen" | "accept"> {
  const { servers, problems }: Servers = serversOf({ [name]: entry }, values);
  const [server] = servers;
  const [problem] = problems;
  if (!server)
    return entry.disabled === true
      ? { state: "disabled" }
      : { state: "unusable", ...(problem ? { problem } : {}) };
  const folder = catalogueFolder(env);
  const catalogue = readCatalogue(folder, server.hash);
  const offers = seenOffers({ [name]: entry }, folder);
  const before = offers.isFree(name) ? undefined : offers.of(name);
  const seen = before && catalogue && isChanged(before, catalogue) ? before : undefined;
  return {
    ...{ state: "usable", catalogue },
    ...(seen ? { seen, accept: () => offers.keep(name, catalogue as Catalogue) } : {}),
    ...(problem ? { problem } : {}),
  };
}

function rulesOf(settings: Settings, config: string, root: string) {
  const { allow = [], deny = [] } = settings;
  return { allow: [...allow, ...readProjectRules(projectRulesFile(config, root), root)], deny };
}

/**
 * Returns the servers that a session in `cwd` would have, with their entries by name, and the folders that those of
 * plug-ins may write. Throws `SettingsError`.
 */
export async function usableServers({ env, cwd }: { env: Environment; cwd: string }) {
  const { mcpServers = {} } = readSettings(join(folders(env).config, "settings.json"));
  const { servers: ofPlugins, data } = await pluginsOf(env);
  const configured = { ...allowedEntries(judgedServers(workspaceRoot(cwd), env)), ...mcpServers };
  const others = Object.entries(ofPlugins).filter(([name]) => !Object.hasOwn(configured, name));
  const found = [serversOf(configured, env), serversOf(Object.fromEntries(others), undefined)];
  return {
    entries: { ...ofPlugins, ...configured },
    configurations: found.flatMap(({ servers }) => servers),
    writable: data,
  };
}
