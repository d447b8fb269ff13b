/** Keeps what a server offers, as it was at its last connection: by its configuration, and as files for the model. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { saveFile } from "../disk/replace-file.ts";
import { shown, shownLine } from "./shown.ts";

/** A tool of a server. `inputSchema`: JSON Schema, as the server sent it. */
export type RemoteTool = {
  name: string;
  description: string;
  inputSchema: unknown;
  /** The server's claim that it only reads. */
  readOnly: boolean;
};

/** A resource of a server. `template`: its address has parts in braces that a reader fills in. */
export type RemoteResource = {
  uri: string;
  name: string;
  description: string;
  type: string;
  template?: true;
};

/** A prompt of a server, which a person starts as `/server:prompt`. */
export type RemotePrompt = {
  name: string;
  description: string;
  arguments: { name: string; description: string; required: boolean }[];
};

export type Catalogue = {
  /** Words of the server about itself. */
  instructions: string;
  tools: RemoteTool[];
  /** Absent in a catalogue of an earlier version. */
  resources?: RemoteResource[];
  prompts?: RemotePrompt[];
  /** The version of the protocol that was agreed on. */
  protocol?: string;
  /** How it was connected to, for the SDK: it saves the question which protocol it speaks. */
  prior?: unknown;
};

/** More tools, resources or prompts of one server than this are left out. */
export const mostOffered = 1000;

/** Reads the catalogue of a configuration; undefined when the server was never connected to. */
export function readCatalogue(folder: string, hash: string): Catalogue | undefined {
  try {
    const value = JSON.parse(readFileSync(join(folder, `${hash}.json`), "utf8")) as Partial<Catalogue>;
    return Array.isArray(value.tools) && typeof value.instructions === "string"
      ? (value as Catalogue)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Stores a catalogue, for the owner only. Never throws: without it the next start only knows less. */
export function storeCatalogue(folder: string, hash: string, catalogue: Catalogue): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    saveFile(join(folder, `${hash}.json`), JSON.stringify(catalogue), { mode: 0o600, make: false });
  } catch {
    // A full disk ends no session.
  }
}

/** Names of tools by what was told of them: how files of a session differ from a catalogue. */
export type Difference = { added: string[]; changed: string[]; gone: string[] };

/** Longest schema of one tool that is kept, in bytes. */
const longestSchema = 200_000;

/**
 * Writes a file for each tool into `folder`, and removes those of tools that are gone. Returns what differs from the
 * files that were there: they are what the model has been told.
 */
export function writeToolFiles(folder: string, { tools, resources = [] }: Catalogue): Difference {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const before = new Set(readdirSync(folder).filter((name) => name.endsWith(".json")));
  const difference: Difference = { added: [], changed: [], gone: [] };
  for (const [file, tool] of fileNames(tools)) {
    const path = join(folder, file);
    const text = fileText(tool);
    if (!before.delete(file)) difference.added.push(tool.name);
    else if (readFileSync(path, "utf8") !== text) difference.changed.push(tool.name);
    else continue;
    writeFileSync(path, text, { mode: 0o600 });
  }
  writeResources(folder, resources);
  for (const file of before) {
    difference.gone.push(file.slice(0, -".json".length));
    rmSync(join(folder, file), { force: true });
  }
  return difference;
}

/** Name of the file that lists resources, one a line. No file of a tool can have it. */
const resourcesFile = "resources.jsonl";

function writeResources(folder: string, resources: readonly RemoteResource[]): void {
  const path = join(folder, resourcesFile);
  if (resources.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  const lines = resources.map(({ uri, name, description, type, template }) => {
    const about = { name: shown(name), description: shown(description), type: shown(type) };
    return JSON.stringify({ [template ? "resource_template" : "resource"]: shown(uri), ...about });
  });
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });
}

/** Returns true when the model has been told of the tools of a server. */
export function wasTold(folder: string): boolean {
  return existsSync(folder);
}

/** The text of a tool's file. */
export function fileText({ name, description, inputSchema }: RemoteTool): string {
  const schema = JSON.stringify(inputSchema) ?? "{}";
  const input_schema = schema.length > longestSchema ? `(longer than ${longestSchema} bytes)` : inputSchema;
  return `${JSON.stringify({ name, description: shown(description), input_schema }, null, 1)}\n`;
}

/** Gives each tool a file name that is its own, on disks that ignore case too. */
function fileNames(tools: readonly RemoteTool[]): Map<string, RemoteTool> {
  const taken = new Set<string>();
  const names = new Map<string, RemoteTool>();
  for (const tool of tools) {
    const plain =
      tool.name
        .replace(/[^\w.-]/g, "_")
        .replace(/^\./, "_")
        .slice(0, 100) || "_";
    let name = plain;
    for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${plain}~${number}`;
    taken.add(name.toLowerCase());
    names.set(`${name}.json`, tool);
  }
  return names;
}

/** Bytes of all lines about servers together: 2,000 tokens at four bytes. */
const mostBytes = 8000;

/** One server in the first message. `catalogue`: undefined before its first connection. */
export type Listed = { name: string; folder: string; catalogue: Catalogue | undefined };

/** Returns a line for each server: its tools by name, and the folder with their schemas. */
export function serverLines(servers: readonly Listed[]): string[] {
  const share = Math.floor(mostBytes / Math.max(1, servers.length));
  return servers.map((server) => serverLine(server, share));
}

/** Returns the line of one server, in at most about `bytes` bytes. */
export function serverLine({ name, folder, catalogue }: Listed, bytes: number): string {
  if (!catalogue) return `${name}: is starting for the first time; its tools follow`;
  const count = `${catalogue.tools.length} ${catalogue.tools.length === 1 ? "tool" : "tools"}`;
  const about = shownLine(catalogue.instructions, 160);
  const number = catalogue.resources?.length ?? 0;
  const more = number === 0 ? "" : `, ${number} ${number === 1 ? "resource" : "resources"}`;
  const head = `${name}: ${about ? `${about} ` : ""}${count}${more} in ${folder}/`;
  const names = namesWithin(catalogue.tools, bytes - head.length - 20);
  return names ? `${head}: ${names}` : head;
}

function namesWithin(tools: readonly RemoteTool[], bytes: number): string {
  const names: string[] = [];
  let left = bytes;
  for (const { name } of tools) {
    const line = shownLine(name, 100);
    left -= line.length + 2;
    if (left < 0) break;
    names.push(line);
  }
  const rest = tools.length - names.length;
  return `${names.join(", ")}${rest > 0 && names.length > 0 ? `, and ${rest} more` : ""}`;
}

/** Returns a note on what differs from what the model was told; undefined when nothing does. */
export function differenceNote(server: Listed, { added, changed, gone }: Difference): string | undefined {
  const parts = [
    ["new", added],
    ["changed", changed],
    ["gone", gone],
  ] as const;
  const said = parts.flatMap(([word, names]) => (names.length === 0 ? [] : [`${word}: ${listed(names)}`]));
  return said.length === 0
    ? undefined
    : `MCP server ${server.name} has other tools now. ${said.join("; ")}. Schemas: ${server.folder}/`;
}

function listed(names: readonly string[]): string {
  const rest = names.length - 40;
  const first = names.slice(0, 40).map((name) => shownLine(name, 100));
  return `${first.join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
}
