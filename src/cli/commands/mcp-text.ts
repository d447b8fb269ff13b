/** The servers of tools (MCP) as text and as JSON. Pure. */

import type { ListedServer, Listing, ServerState } from "../../app/mcp/listing.ts";
import { plural } from "../../context/report/amounts.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { showHidden } from "../../core/text/hidden-characters.ts";

/** The list, as lines below the file that each server is from. */
export function serversText({ settings, project, servers, notes }: Listing): string {
  const own = servers.filter(({ from }) => from === "settings");
  const ofPlugins = servers.filter(({ from }) => from === "plugin");
  const offered = servers.filter(({ from }) => from === "project");
  const none = `No server is configured: sawtooth mcp add <name> -- <command…> adds one to ${settings}`;
  const parts = [
    own.length > 0 ? [`${settings}`, ...own.flatMap(rowsOf)] : [],
    offered.length > 0 ? [`${project}`, ...offered.flatMap(rowsOf)] : [],
    ofPlugins.length > 0 ? ["Plug-ins (sawtooth plugin list)", ...ofPlugins.flatMap(rowsOf)] : [],
    notes,
    servers.length === 0 ? [none] : [],
    servers.some((server) => isWaiting(server) || server.seen)
      ? ["sawtooth mcp review shows what you have not seen, and asks."]
      : [],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** All there is to know about the servers of one name. */
export function serverDetails({ settings, project, servers }: Listing): string {
  const blocks = servers.map((server) => {
    const { catalogue, gets, reads, cwd, allow, deny } = server;
    const tools = catalogue?.tools ?? [];
    return [
      ...rowsOf(server),
      row("in", placeOf(server, { settings, project })),
      ...(cwd === undefined ? [] : [row("starts in", cwd)]),
      ...gets.map(({ name, value }) => row("gets", `${name}: ${value}`)),
      ...reads.map(({ name, set }) => row("reads", set ? name : `${name}, which is not set`)),
      ...allow.map((rule) => row("allowed", rule)),
      ...deny.map((rule) => row("denied", rule)),
      ...tools.map(({ name, description }) => row("tool", `${line(name)}: ${firstLine(description)}`)),
    ].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

function placeOf({ from }: Pick<ListedServer, "from">, files: Pick<Listing, "settings" | "project">): string {
  return from === "plugin" ? "a plug-in, which sawtooth plugin list shows" : files[from];
}

function row(name: string, value: string): string {
  return `    ${name.padEnd(10)} ${value}`;
}

function rowsOf(server: ListedServer): string[] {
  return [
    `  ${server.name}: ${stateText(server)}`,
    row(server.transport === "http" ? "at" : "runs", server.runs),
    ...(isWaiting(server) || server.state === "hidden" ? [] : [row("rights", rightsText(server))]),
  ];
}

const states: Record<Exclude<ServerState, "usable" | "unusable">, string> = {
  disabled: "disabled",
  hidden: "not used, as your settings have a server of this name",
  new: "not allowed yet",
  changed: "not allowed, as it changed since you allowed it",
  refused: "not used, as you decided",
};

function stateText({ state, problem, catalogue, seen }: ListedServer): string {
  if (state === "unusable") return problem ?? "cannot be used";
  if (state !== "usable") return states[state];
  const known = catalogue ? plural(catalogue.tools.length, "tool") : "never connected to";
  const changed = seen ? ", which changed since you saw them" : "";
  return problem ? `${known}${changed}; ${problem}` : `${known}${changed}`;
}

function rightsText({ transport, sandboxed, trusted, allow, deny }: ListedServer): string {
  return [
    transport === "http" ? "" : sandboxed ? "in the sandbox" : "outside of the sandbox",
    trusted ? "its word on what only reads is believed" : "",
    allow.length > 0 ? `allowed: ${allow.join(", ")}` : "each call asks",
    deny.length > 0 ? `denied: ${deny.join(", ")}` : "",
  ]
    .filter(Boolean)
    .join("; ");
}

function isWaiting({ state }: ListedServer): boolean {
  return state === "new" || state === "changed";
}

function line(text: string): string {
  return showHidden(cleanLine(text));
}

function firstLine(text: string): string {
  const [first = ""] = text.trim().split("\n");
  return line(first.length > 200 ? `${first.slice(0, 200).toWellFormed()}…` : first);
}

/** The list as one JSON object in a line. */
export function serversJson({ settings, project, servers, notes }: Listing): string {
  const listed = servers.map(
    ({ catalogue, seen, accept, sandboxed, trusted, runs, gets, reads, ...server }) => ({
      ...server,
      ...(server.from === "plugin" ? {} : { file: placeOf(server, { settings, project }) }),
      ...(server.transport === "http" ? { url: runs } : { command_line: runs }),
      gets: gets.map(({ name }) => name),
      reads: reads.map(({ name }) => name),
      ...(server.transport === "http" ? {} : { sandbox: sandboxed }),
      annotations_trusted: trusted,
      tools_changed: seen !== undefined,
      tools: catalogue?.tools.map(({ name }) => name) ?? null,
    }),
  );
  return `${JSON.stringify({ servers: listed, notes })}\n`;
}
