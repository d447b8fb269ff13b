/** Remembers what the person decided about the servers of a project, by the hash of each entry. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { type ProjectServer, readProjectServers } from "../../config/project-servers.ts";
import { trusted } from "../../config/trust.ts";

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

function decisionOn({ name, hash }: ProjectServer, file: string): { hash: string; folder: string } {
  return { hash, folder: `${file}#${name}` };
}

function trustFile(env: Environment): string {
  return join(folders(env).state, "trusted.jsonl");
}

/** Leaves out the keys by which a person lets a server do more. */
export function withoutGrants(entry: Record<string, unknown>): Record<string, unknown> {
  const { sandbox: _, annotations: __, changes: ___, ...rest } = entry;
  return rest;
}
