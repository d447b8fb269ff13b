/** Shows a person all that an entry of a project's `.mcp.json` would do, before they decide on it. */

import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { changeLines } from "../../mcp/changes.ts";
import { wrap } from "../../report/text/columns.ts";
import { type EntryFacts, entryFacts } from "./entry-facts.ts";
import type { ListedServer } from "./listing.ts";
import type { JudgedServers } from "./project-trust.ts";
import { withoutGrants } from "./project-trust.ts";

type Server = JudgedServers["servers"][number];
type Place = { file: string; workspace: string; env: Readonly<Record<string, string | undefined>> };

const width = 80;

/** Returns the lines about a server: the exact command line or address, variables, and what to know about them. */
export function entryText({ name, entry, verdict }: Server, { file, workspace, env }: Place): string {
  const facts = entryFacts(withoutGrants(entry), env);
  const changed = verdict === "changed" ? ", which changed since you allowed it" : "";
  const isRemote = facts.transport === "http";
  const rows = [
    ...rowOf(isRemote ? "connects to" : "runs", facts.runs),
    ...(facts.cwd === undefined ? [] : rowOf("starts in", facts.cwd)),
    ...facts.gets.flatMap(({ name: key, value }) =>
      rowOf(isRemote ? "sends" : "gives it", `${key}${isRemote ? ": " : "="}${value}`),
    ),
    ...facts.reads.flatMap((variable) => rowOf("of yours", readText(variable))),
    ...notesOn(entry, facts, workspace).flatMap((note) => noteRow(note)),
  ];
  return [`Server ${name} of ${file}${changed}`, ...rows, ""].join("\n");
}

function readText({ name, set, secret }: EntryFacts["reads"][number]): string {
  return `${name}${secret ? ", a secret" : ""}${set ? "" : ", which is not set now"}`;
}

/** Nothing is cut or broken between words: a line is what the program would get. */
function rowOf(name: string, value: string): string[] {
  return [`  ${name.padEnd(12)} ${value}`];
}

function noteRow(note: string): string[] {
  return wrap(note, width - 15).map((line, at) => `  ${(at === 0 ? "note" : "").padEnd(12)} ${line}`);
}

function notesOn(entry: Server["entry"], facts: EntryFacts, workspace: string): string[] {
  const files = facts.transport === "stdio" ? filesOfProject(entry, workspace) : [];
  const granted = ["sandbox", "annotations", "changes"].filter((key) => entry[key] !== undefined);
  return [
    ...files.map((word) => `${word} lies in this project: it may change later, and that is not asked about`),
    ...(granted.length > 0
      ? [`without effect: ${granted.join(", ")}, which only an entry of your settings can grant`]
      : []),
    facts.transport === "stdio"
      ? "it runs in a sandbox of its own, where there is one; each call of its tools needs permission"
      : "each call of its tools needs permission, and sends its arguments there",
  ];
}

/** Returns the words of the command line that name something in the project. */
function filesOfProject({ command, args, cwd }: Server["entry"], workspace: string): string[] {
  const words = [command, ...(Array.isArray(args) ? args : [])];
  const folder = typeof cwd === "string" ? resolve(workspace, cwd) : workspace;
  return words.filter((word): word is string => {
    if (typeof word !== "string" || !/^[\w@%+=:,./-]+$/.test(word)) return false;
    const path = resolve(folder, word);
    return existsSync(path) && realpathSync(path).startsWith(`${realpathSync(workspace)}/`);
  });
}

/** Returns the difference between what a person saw of a server and what it offers now; empty where there is none. */
export async function changedText({ name, seen, catalogue }: ListedServer): Promise<string> {
  if (!seen || !catalogue) return "";
  const lines = await changeLines(seen, catalogue);
  return [
    `Server ${name} describes its tools otherwise than when you last saw them`,
    ...lines.map((line) => `  ${line}`),
    "",
  ].join("\n");
}
