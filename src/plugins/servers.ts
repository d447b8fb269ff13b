/** Reads `mcp.json`, the servers of a plug-in (Agent Plugins 1.0.0, sections 7.2 and 9). */

import { join, resolve } from "node:path";
import { realTarget } from "../disk/real-path.ts";
import { isObject, objectIn, PluginError, schemas } from "./manifest.ts";

/** Where a plug-in and its data lie: real, absolute. */
export type PluginPlace = { root: string; data: string };

/** A server, with every placeholder expanded. */
export type PluginServer =
  | { type: "stdio"; command: string; args: string[]; env: Record<string, string>; cwd: string }
  | { type: "streamable-http"; url: string; headers: Record<string, string> };

/** `notes`: why others are left out. */
export type PluginServers = { servers: Map<string, PluginServer>; notes: string[] };

type Fields = Record<string, unknown>;

/** Returns the servers. A wrong one leaves the others; a wrong file has none. */
export function serversIn(text: string, place: PluginPlace): PluginServers {
  const found: PluginServers = { servers: new Map(), notes: [] };
  try {
    for (const [name, entry] of Object.entries(entriesOf(text))) {
      const read = attempt(() => serverOf(entry, place));
      if (typeof read === "string") found.notes.push(`mcp.json: the server ${name} is left out: ${read}`);
      else found.servers.set(name, read);
    }
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    found.notes.push(`no server of mcp.json is used: ${error.message}`);
  }
  return found;
}

function attempt<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof PluginError) return error.message;
    throw error;
  }
}

function entriesOf(text: string): Fields {
  const { $schema, mcpServers, ...rest } = objectIn("mcp.json", text);
  if ($schema !== schemas.mcp)
    throw new PluginError("its $schema is not that of 1.0.0, as plugin.json has it");
  if (!isObject(mcpServers)) throw new PluginError("mcpServers must be an object");
  const [stray] = Object.keys(rest);
  if (stray !== undefined) throw new PluginError(`it has the unknown field ${stray}`);
  return mcpServers;
}

function serverOf(entry: unknown, place: PluginPlace): PluginServer {
  if (!isObject(entry)) throw new PluginError("it is not an object");
  switch (entry.type) {
    case "stdio":
      return program(only(entry, ["command", "args", "env", "cwd"]), place);
    case "streamable-http":
      return address(only(entry, ["url", "headers"]));
    case "sse":
      address(only(entry, ["url", "headers"]));
      throw new PluginError("the transport sse is gone from the protocol and not supported");
    default:
      throw new PluginError("its type must be stdio or streamable-http");
  }
}

function only(entry: Fields, fields: readonly string[]): Fields {
  const stray = Object.keys(entry).find((field) => field !== "type" && !fields.includes(field));
  if (stray !== undefined) throw new PluginError(`it has the unknown field ${stray}`);
  return entry;
}

function program(entry: Fields, place: PluginPlace): PluginServer {
  const { command, args = [], cwd } = entry;
  if (typeof command !== "string" || command === "") throw new PluginError("it needs a command");
  if (!Array.isArray(args) || args.some((each) => typeof each !== "string"))
    throw new PluginError("args must be a list of texts");
  const env = textsOf(entry, "env");
  for (const [name, value] of Object.entries(env)) {
    if (name === "PLUGIN_ROOT" || name === "PLUGIN_DATA") throw new PluginError(`env may not set ${name}`);
    if (/[=\0]/.test(name) || name === "" || value.includes("\0"))
      throw new PluginError("env has a wrong name");
  }
  const expand = (text: string) => expanded(text, place);
  const own = Object.entries(env).map(([name, value]) => [name, expand(value)]);
  return {
    type: "stdio",
    command: programOf(command, place),
    args: args.map(expand),
    env: { ...Object.fromEntries(own), PLUGIN_ROOT: place.root, PLUGIN_DATA: place.data },
    cwd: folderOf(cwd, place),
  };
}

/** Replaces the two placeholders, once: what comes in by one is not looked through for more. */
function expanded(text: string, { root, data }: PluginPlace): string {
  return text.replace(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_, which) => (which === "ROOT" ? root : data));
}

/** A bare name is found on PATH; a path begins with ./ and stays in the plug-in. */
function programOf(command: string, { root }: PluginPlace): string {
  if (!/[/\\]/.test(command)) {
    if (/\s|\0/.test(command) || command.includes("${"))
      throw new PluginError("its command must be one name, without arguments and placeholders");
    return command;
  }
  if (!command.startsWith("./") || command.includes("\0"))
    throw new PluginError("its command must be a name, or a path that begins with ./");
  return inside(root, join(root, command), "its command");
}

function folderOf(cwd: unknown, place: PluginPlace): string {
  if (cwd === undefined) return place.root;
  if (typeof cwd !== "string") throw new PluginError("cwd must be a text");
  const [, which] = /^\$\{PLUGIN_(ROOT|DATA)\}(?:\/|$)/.exec(cwd) ?? [];
  if (!cwd.startsWith("./") && which === undefined)
    throw new PluginError(`cwd must begin with ./, \${PLUGIN_ROOT} or \${PLUGIN_DATA}`);
  const top = which === "DATA" ? place.data : place.root;
  return inside(top, resolve(place.root, expanded(cwd, place)), "its cwd");
}

function inside(top: string, path: string, what: string): string {
  const real = resolved(path);
  if (real !== undefined && `${real}/`.startsWith(`${top}/`)) return real;
  throw new PluginError(`${what} leads out of the plug-in`);
}

function resolved(path: string): string | undefined {
  try {
    return realTarget(path);
  } catch {
    return undefined;
  }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function address(entry: Fields): PluginServer {
  const { url } = entry;
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  if (typeof url !== "string" || !parsed || !/^https?:$/.test(parsed.protocol))
    throw new PluginError("its url must be one of http or https");
  if (parsed.username || parsed.password || url.includes("#"))
    throw new PluginError("its url may have no user and no fragment");
  if (parsed.protocol === "http:" && !loopback.test(parsed.hostname))
    throw new PluginError("its url must be https, other than on this machine");
  const headers = textsOf(entry, "headers");
  const names = Object.keys(headers);
  const wrong = names.find(
    (name) => !headerName.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(headers[name] ?? ""),
  );
  if (wrong !== undefined) throw new PluginError("a header of it is not valid");
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    throw new PluginError("it has a header twice");
  return { type: "streamable-http", url, headers };
}

function textsOf(entry: Fields, field: string): Record<string, string> {
  const value = entry[field] ?? {};
  if (isObject(value) && Object.values(value).every((each) => typeof each === "string"))
    return value as Record<string, string>;
  throw new PluginError(`${field} must be an object of texts`);
}
