/**
 * Changes the servers of tools (MCP) in the settings file, and no other byte of it: order, indentation, spaces and ends
 * of lines stay.
 */

import { dirname } from "node:path";
import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from "jsonc-parser";
import { makeFolders } from "../disk/make-folders.ts";
import { saveFile } from "../disk/replace-file.ts";
import { contentOf, readSettings, SettingsError } from "./settings.ts";

/** Adds a server to the file. Throws `SettingsError`; a file that is no settings is left as it is. */
export function addServerEntry(file: string, name: string, entry: object): void {
  const { mcpServers } = readSettings(file);
  const text = contentOf(file) ?? "{}\n";
  const root = parseTree(text) as Node;
  const servers = findNodeAtLocation(root, ["mcpServers"]);
  const [parent, key, value] = servers
    ? [servers, name, entry]
    : [root, "mcpServers", { ...mcpServers, [name]: entry }];
  write(file, withProperty(text, parent, key, value));
}

/** Takes a server out of the file, and with the last one `mcpServers`. Throws as `addServerEntry`. */
export function removeServerEntry(file: string, name: string): void {
  const { mcpServers = {} } = readSettings(file);
  const text = contentOf(file) ?? "{}\n";
  const isLast = Object.keys(mcpServers).every((one) => one === name);
  const path = isLast ? ["mcpServers"] : ["mcpServers", name];
  write(file, applyEdits(text, modify(text, path, undefined, {})));
}

/** Returns the text with one more property at the end of an object, written as its neighbours are. */
function withProperty(text: string, parent: Node, key: string, value: object): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const [, unit = "  "] = /\n([ \t]+)"/.exec(text) ?? [];
  const last = parent.children?.at(-1);
  const end = parent.offset + parent.length;
  const isOneLine = last !== undefined && !text.slice(parent.offset, end).includes("\n");
  if (isOneLine) return insert(text, endOf(last), `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  const outer = indentAt(text, parent.offset);
  const indent = last ? indentAt(text, last.offset) : outer + unit;
  const lines = JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
  const property = `${eol}${indent}${JSON.stringify(key)}: ${lines}`;
  if (last) return insert(text, endOf(last), `,${property}`);
  return `${text.slice(0, parent.offset)}{${property}${eol}${outer}}${text.slice(end)}`;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function insert(text: string, at: number, what: string): string {
  return text.slice(0, at) + what + text.slice(at);
}

/** Returns the blanks at the beginning of the line. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function write(file: string, text: string): void {
  try {
    makeFolders(dirname(file), 0o700);
    saveFile(file, text, { mode: 0o600, make: false });
  } catch (error) {
    throw new SettingsError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}
