/** Remembers what the person decided about the servers of a project, by the hash of each entry. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { type ProjectServer, readProjectServers } from "../../config/project-servers.ts";
import { rememberTrust, trusted } from "../../config/trust.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `changed`: another entry of this name was allowed before. */
export type Verdict = "allowed" | "changed" | "new" | "refused";

/** `servers`: with what was decided of each. `file`: where they are, absolute. */
export type JudgedServers = {
  file: string;
  servers: (ProjectServer & { verdict: Verdict })[];
  notes: string[];
};

/** Reads the servers of the project in `workspace`, a real path. Never throws. */
export function judgedServers(workspace: string, env: Environment): JudgedServers {
  const found = readProjectServers(workspace);
  const servers = found.servers.map((server) => ({ ...server, verdict: verdictOn(server, found.file, env) }));
  return { ...found, servers };
}

function verdictOn(server: ProjectServer, file: string, env: Environment): Verdict {
  const { now, before, refused } = trusted(trustFile(env), decisionOn(server, file));
  if (now) return "allowed";
  if (refused) return "refused";
  return before ? "changed" : "new";
}

/** Records what the person decided after reading the entry. Throws an error of one line. */
export function decideServer(server: ProjectServer, file: string, allowed: boolean, env: Environment): void {
  const decision = { ...decisionOn(server, file), ...(allowed ? {} : { refused: true as const }) };
  rememberTrust(trustFile(env), decision, `${server.name} is not used`);
}

function decisionOn({ name, hash }: ProjectServer, file: string): { hash: string; folder: string } {
  return { hash, folder: `${file}#${name}` };
}

function trustFile(env: Environment): string {
  return join(folders(env).state, "trusted.jsonl");
}

/** Returns the entries that may be used, without what only a person may grant. */
export function allowedEntries({ servers }: JudgedServers): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    servers
      .filter(({ verdict }) => verdict === "allowed")
      .map(({ name, entry }) => [name, withoutGrants(entry)]),
  );
}

/** Leaves out the keys by which a person lets a server do more. */
export function withoutGrants(entry: Record<string, unknown>): Record<string, unknown> {
  const { sandbox: _, annotations: __, changes: ___, ...rest } = entry;
  return rest;
}

/** Returns the servers that wait for a person. `taken`: names of servers in the settings, which win. */
export function waitingServers(
  { servers }: JudgedServers,
  taken: ReadonlySet<string>,
): JudgedServers["servers"] {
  return servers.filter(
    ({ name, verdict }) => (verdict === "new" || verdict === "changed") && !taken.has(name),
  );
}
