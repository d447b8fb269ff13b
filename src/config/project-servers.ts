/** Reads the servers of tools (MCP) that a project offers in `.mcp.json`. They are data: nothing of them is used here. */

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { cleanLine } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";
import { parsed, SettingsError } from "./settings.ts";

/** A server as the file has it. `hash`: SHA-256 of its name and entry. */
export type ProjectServer = { name: string; entry: Record<string, unknown>; hash: string };

/** The result. `notes`: a line for the file or each entry that is left out, and why. */
export type ProjectServers = { file: string; servers: ProjectServer[]; notes: string[] };

const mostBytes = 256 * 1024;
const mostServers = 50;
const mostNotes = 5;
/** A person has to read an entry before it is used, so none is longer, in characters of JSON. */
const longestEntry = 8000;

/** Reads the file in `workspace`. Never throws: what cannot be used is a note. */
export function readProjectServers(workspace: string): ProjectServers {
  const file = join(workspace, ".mcp.json");
  const found: ProjectServers = { file, servers: [], notes: [] };
  const text = textOf(file, found.notes);
  if (text === undefined) return found;
  const entries = entriesOf(file, text, found.notes);
  for (const [name, entry] of entries.slice(0, mostServers)) {
    const wrong = problemOf(name, entry);
    if (wrong) found.notes.push(`.mcp.json: ${spelled(name)} is not used: ${wrong}`);
    else found.servers.push({ name, entry: entry as ProjectServer["entry"], hash: hashOf([name, entry]) });
  }
  if (entries.length > mostServers)
    found.notes.push(`.mcp.json: only the first ${mostServers} of ${entries.length} servers are read`);
  return { ...found, notes: shortened(found.notes) };
}

/** A repository decides how many notes there are, and must not fill the screen with them. */
function shortened(notes: readonly string[]): string[] {
  const more = notes.length - mostNotes;
  return more > 0 ? [...notes.slice(0, mostNotes), `.mcp.json: and ${more} more of this kind`] : [...notes];
}

/** Only a plain file is read, never a link or a pipe, and no more of it than a person could review. */
function textOf(file: string, notes: string[]): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return void notes.push(".mcp.json is not read: it is not a file");
    const bytes = Buffer.alloc(mostBytes + 1);
    const length = readSync(fd, bytes);
    if (length <= mostBytes) return bytes.toString("utf8", 0, length).replace(/^\ufeff/, "");
    return void notes.push(`.mcp.json is not read: it is larger than ${mostBytes / 1024} KiB`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return void notes.push(`.mcp.json is not read: ${code === "ELOOP" ? "it is a link" : code}`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function entriesOf(file: string, text: string, notes: string[]): [string, unknown][] {
  try {
    const value = parsed(file, text) as { mcpServers?: unknown } | null;
    const servers = value?.mcpServers;
    if (isObject(servers)) return Object.entries(servers);
    notes.push(".mcp.json is not read: it has no object mcpServers");
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    notes.push(".mcp.json is not read: it is not JSON");
  }
  return [];
}

function problemOf(name: string, entry: unknown): string | undefined {
  if (!/^[\w-][\w.-]{0,63}$/.test(name)) return "a name has up to 64 letters, digits and the signs . _ -";
  if (!isObject(entry)) return "it is not an object";
  return JSON.stringify(entry).length > longestEntry
    ? `it has more than ${longestEntry} characters, too many to be reviewed`
    : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function spelled(name: string): string {
  return showHidden(cleanLine(name)).slice(0, 80).toWellFormed();
}
