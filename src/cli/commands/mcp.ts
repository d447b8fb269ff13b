/** `sawtooth mcp`: the servers of tools (MCP) of the person, and those that the project offers. */

import { join } from "node:path";
import { type ListedServer, listedServers } from "../../app/mcp/listing.ts";
import { nameProblem, newEntry } from "../../app/mcp/new-entry.ts";
import { folders } from "../../config/folders.ts";
import { addServerEntry, removeServerEntry } from "../../config/server-entries.ts";
import { readSettings } from "../../config/settings.ts";
import { UsageError } from "../../core/errors.ts";
import type { FlagsOf } from "../arguments/options.ts";
import { serverDetails, serversJson, serversText } from "./mcp-text.ts";
import { mcpLogin, mcpLogout } from "./server-login.ts";

type Place = { env: Record<string, string | undefined>; cwd: string; say(text: string): void };
type Call = Place & { operands: readonly string[]; flags: FlagsOf<"mcp"> };

/** The sub-commands by name; each returns the exit code and throws `UsageError` and `SettingsError`. */
const verbs: Record<string, (call: Call) => number | Promise<number>> = {
  list,
  get,
  add,
  remove,
  review: async (call) => (await import("./mcp-review.ts")).review(call),
  login: mcpLogin,
  logout: mcpLogout,
};

/** Runs the sub-command; without one, the list. Returns the exit code. Throws `UsageError` and `SettingsError`. */
export async function runMcp(
  [verb = "list", ...operands]: readonly string[],
  flags: FlagsOf<"mcp">,
  place: Place,
): Promise<number> {
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) throw new UsageError(`unknown command: mcp ${verb} (use mcp ${Object.keys(verbs).join(", ")})`);
  if (verb !== "add") refuseOptionsOfAdd(flags);
  return run({ ...place, operands, flags });
}

function refuseOptionsOfAdd({ url, headers, variables, noSandbox }: FlagsOf<"mcp">): void {
  const given = { url, header: headers[0], env: variables[0], "no-sandbox": noSandbox || undefined };
  const stray = Object.entries(given).find(([, value]) => value !== undefined);
  if (stray) throw new UsageError(`--${stray[0]} belongs to sawtooth mcp add`);
}

async function list({ operands, flags, env, cwd, say }: Call): Promise<number> {
  noMore(operands, "list takes no name: mcp get <name> shows one");
  const found = await listedServers({ env, cwd });
  say(isJson(flags) ? serversJson(found) : serversText(found));
  return 0;
}

async function get({ operands: [name, ...rest], flags, env, cwd, say }: Call): Promise<number> {
  if (name === undefined) throw new UsageError("get needs a name: sawtooth mcp list has them");
  noMore(rest, "get takes one name");
  const found = await listedServers({ env, cwd });
  const servers = found.servers.filter((server) => server.name === name);
  if (servers.length === 0) throw new UsageError(noSuch(name, found.servers));
  say(isJson(flags) ? serversJson({ ...found, servers }) : serverDetails({ ...found, servers }));
  return 0;
}

function add({ operands: [name, ...line], flags, env, say }: Call): number {
  const file = settingsFile(env);
  const { mcpServers = {} } = readSettings(file);
  if (name === undefined)
    throw new UsageError("add needs a name: sawtooth mcp add <name> -- <command> <arguments…>");
  const wrong = nameProblem(name);
  if (wrong) throw new UsageError(wrong);
  if (Object.hasOwn(mcpServers, name))
    throw new UsageError(`there is a server ${name} already: sawtooth mcp remove ${name} takes it out`);
  const { entry, notes } = newEntry(line, { ...flags, name, env });
  addServerEntry(file, name, entry);
  const rule = `--allow 'mcp(${name}/*)'`;
  say(
    [
      `Added ${name} to ${file}.`,
      ...notes,
      `It is started when a tool of it is called. Each call asks, or needs a rule: ${rule} allows all.`,
      "",
    ].join("\n"),
  );
  return 0;
}

async function remove({ operands: [name, ...rest], env, cwd, say }: Call): Promise<number> {
  if (name === undefined) throw new UsageError("remove needs a name: sawtooth mcp list has them");
  noMore(rest, "remove takes one name");
  const file = settingsFile(env);
  const { mcpServers = {} } = readSettings(file);
  if (!Object.hasOwn(mcpServers, name)) {
    const { servers } = await listedServers({ env, cwd });
    const found = servers.find((server) => server.name === name);
    throw new UsageError(found ? elsewhere[found.from](name) : noSuch(name, servers));
  }
  removeServerEntry(file, name);
  say(`Removed ${name} from ${file}.\n`);
  return 0;
}

/** Why a server cannot be taken out of the settings, by where it is. */
const elsewhere: Record<ListedServer["from"], (name: string) => string> = {
  settings: (name) => noSuch(name, []),
  project: (name) => `${name} is a server of this project's .mcp.json, which sawtooth does not change`,
  plugin: (name) => `${name} is a server of a plug-in: sawtooth plugin remove takes that out`,
};

function noSuch(name: string, servers: readonly ListedServer[]): string {
  const names = servers.map((server) => server.name).join(", ");
  return `there is no server ${name}${names ? `; there are ${names}` : ": none is configured"}`;
}

function noMore([stray]: readonly string[], why: string): void {
  if (stray !== undefined) throw new UsageError(`${why}; unexpected: ${stray}`);
}

function isJson({ outputFormat }: FlagsOf<"mcp">): boolean {
  if (outputFormat === "stream-json") throw new UsageError("mcp writes text or json: --output-format json");
  return outputFormat === "json";
}

function settingsFile(env: Place["env"]): string {
  return join(folders(env).config, "settings.json");
}
