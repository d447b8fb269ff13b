/** Reads the servers in a person's settings: which program each is, and what it gets. */

import { createHash } from "node:crypto";
import { shown } from "./shown.ts";

/** A server that can be started. */
export type ServerConfiguration = {
  name: string;
  command: string;
  args: string[];
  /** Variables besides the usual ones, expanded. */
  env: Record<string, string>;
  /** Folder that it starts in; the workspace when undefined. */
  cwd: string | undefined;
  /** True unless the person lets it run outside of the sandbox. */
  sandboxed: boolean;
  /** True where the person believes what its tools claim of themselves. */
  trusted: boolean;
  /** Milliseconds without progress after which a call ends. */
  timeoutMs: number;
  /** SHA-256 of what decides which tools it has. */
  hash: string;
};

/** `problems`: a line for each entry, or part of one, that is not used. */
export type Servers = { servers: ServerConfiguration[]; problems: string[] };

type Environment = Readonly<Record<string, string | undefined>>;
type Entry = Record<string, unknown>;

/** Keys of an entry that have an effect. */
const known = new Set([
  ...["type", "command", "args", "env", "cwd", "disabled"],
  ...["sandbox", "annotations", "changes", "timeoutSeconds"],
]);
/** Keys of other programs that grant something there, and nothing here: an entry may have them. */
const elsewhere = new Set(["autoApprove", "alwaysAllow", "trust", "description", "disabledTools"]);
const usualTimeoutSeconds = 60;

/**
 * Returns the servers of `entries`. An entry that cannot be used is a problem; the others stay. Without `env` nothing in
 * them is expanded.
 */
export function serversOf(entries: Readonly<Record<string, unknown>>, env: Environment | undefined): Servers {
  const found: Servers = { servers: [], problems: [] };
  for (const [name, entry] of Object.entries(entries)) {
    const wrong = (what: string) => void found.problems.push(shown(`mcpServers.${name} ${what}`));
    try {
      const server = serverOf(name, entry as Entry, env, wrong);
      if (server) found.servers.push(server);
    } catch (error) {
      if (!(error instanceof EntryError)) throw error;
      wrong(error.message);
    }
  }
  return found;
}

/** Returns what a name must be where this one cannot be used. */
export function nameProblemOf(name: string): string | undefined {
  return /^[\w-][\w.-]{0,63}$/.test(name)
    ? undefined
    : "a name has up to 64 letters, digits and the signs . _ -";
}

/** Thrown for an entry that cannot be used, with the rest of a sentence about it. */
class EntryError extends Error {}

function serverOf(
  name: string,
  entry: Entry,
  env: Environment | undefined,
  note: (what: string) => void,
): ServerConfiguration | undefined {
  if (entry.disabled === true) return undefined;
  const wrongName = nameProblemOf(name);
  if (wrongName) throw new EntryError(`is not used: ${wrongName}`);
  if (entry.url !== undefined || (entry.type !== undefined && entry.type !== "stdio"))
    throw new EntryError(
      "is not used: only servers that are started as a program work, with command and args",
    );
  for (const key of Object.keys(entry))
    if (!known.has(key) && !elsewhere.has(key)) note(`has the unknown key ${key}, which has no effect`);
  const command = expanded(textOf(entry, "command") ?? "", env);
  if (command.trim() === "") throw new EntryError("is not used: it needs a command");
  const args = listOf(entry, "args").map((one) => expanded(one, env));
  const own = Object.entries(objectOf(entry, "env")).map(([key, value]) => [key, expanded(value, env)]);
  const cwd = textOf(entry, "cwd");
  const timeout = entry.timeoutSeconds ?? usualTimeoutSeconds;
  if (typeof timeout !== "number" || !(timeout >= 1 && timeout <= 3600))
    throw new EntryError("is not used: timeoutSeconds must be a number from 1 to 3600");
  const started = {
    ...{ command, args, env: Object.fromEntries(own) as Record<string, string> },
    cwd: cwd === undefined ? undefined : expanded(cwd, env),
  };
  return {
    ...{ name, ...started, sandboxed: entry.sandbox !== false, trusted: entry.annotations === "trusted" },
    ...{ timeoutMs: timeout * 1000, hash: hashOf({ name, ...started }) },
  };
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** Replaces `${NAME}` and `${NAME:-otherwise}`. A variable that is not set and has no other value is an error. */
function expanded(text: string, env: Environment | undefined): string {
  if (!env) return text;
  return text.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = env[name] || otherwise;
    if (value === undefined)
      throw new EntryError(
        `is not used: the variable ${name} is not set. Set it, or write \${${name}:-value}`,
      );
    return value;
  });
}

function textOf(entry: Entry, key: string): string | undefined {
  const value = entry[key];
  if (value === undefined || typeof value === "string") return value;
  throw new EntryError(`is not used: ${key} must be a text`);
}

function listOf(entry: Entry, key: string): string[] {
  const value = entry[key] ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new EntryError(`is not used: ${key} must be a list of texts`);
}

function objectOf(entry: Entry, key: string): Record<string, string> {
  const value = entry[key] ?? {};
  if (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((one) => typeof one === "string")
  )
    return value as Record<string, string>;
  throw new EntryError(`is not used: ${key} must be an object of texts`);
}
