/** Reads the servers in a person's settings: which program or address each is, and what it gets. */

import { createHash } from "node:crypto";
import { shown } from "./shown.ts";

type Common = {
  name: string;
  /** True where the person believes what its tools claim of themselves. */
  trusted: boolean;
  /** Milliseconds without progress after which a call ends. */
  timeoutMs: number;
  /** SHA-256 of what decides which tools it has. */
  hash: string;
};

/** A server that is started as a program. */
export type ProgramServer = Common & {
  kind: "program";
  command: string;
  args: string[];
  /** Variables besides the usual ones, expanded. */
  env: Record<string, string>;
  /** Folder that it starts in; the workspace when undefined. */
  cwd: string | undefined;
  /** True unless the person lets it run outside of the sandbox. */
  sandboxed: boolean;
};

/** A server at an address: streamable HTTP. */
export type HttpServer = Common & {
  kind: "http";
  /** As the person wrote it: its origin is trusted, wherever it is. */
  url: string;
  /** Headers of every request, expanded. */
  headers: Record<string, string>;
  /** The client that the person registered by hand; undefined where registration is left to the server. */
  client: OAuthClient | undefined;
};

/** A client of an authorization server. `scope`: those to ask for, with spaces between. */
export type OAuthClient = {
  id?: string;
  secret?: string;
  scope?: string;
  /** Port of 127.0.0.1 that the browser comes back to; any free one when undefined. */
  port?: number;
};

export type ServerConfiguration = ProgramServer | HttpServer;

/** `problems`: a line for each entry, or part of one, that is not used. */
export type Servers = { servers: ServerConfiguration[]; problems: string[] };

type Environment = Readonly<Record<string, string | undefined>>;
type Entry = Record<string, unknown>;

const both = ["type", "disabled", "annotations", "changes", "timeoutSeconds"];
/** Keys of an entry that have an effect. */
const known = {
  program: new Set([...both, "command", "args", "env", "cwd", "sandbox"]),
  http: new Set([...both, "url", "headers", "oauth"]),
};
/** Words that other programs have for the two kinds. */
const kinds: Record<string, ServerConfiguration["kind"]> = {
  stdio: "program",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
};
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
  const kind = kindOf(entry);
  for (const key of Object.keys(entry))
    if (!known[kind].has(key) && !elsewhere.has(key)) note(`has the unknown key ${key}, which has no effect`);
  const timeout = entry.timeoutSeconds ?? usualTimeoutSeconds;
  if (typeof timeout !== "number" || !(timeout >= 1 && timeout <= 3600))
    throw new EntryError("is not used: timeoutSeconds must be a number from 1 to 3600");
  const common = { name, trusted: entry.annotations === "trusted", timeoutMs: timeout * 1000 };
  return kind === "http"
    ? { kind, ...common, ...addressOf(name, entry, env) }
    : { kind, ...common, ...programOf(name, entry, env) };
}

function kindOf({ type, url, command }: Entry): ServerConfiguration["kind"] {
  if (type === "sse")
    throw new EntryError(
      'is not used: the transport sse is gone from the protocol; most servers have streamable HTTP too, with "type": "http"',
    );
  if (type !== undefined && !(typeof type === "string" && Object.hasOwn(kinds, type)))
    throw new EntryError("is not used: type is stdio or http");
  if (url !== undefined && command !== undefined)
    throw new EntryError("is not used: it has a command and a url, and a server is one or the other");
  const kind = typeof type === "string" ? kinds[type] : undefined;
  return kind ?? (url === undefined ? "program" : "http");
}

type Program = Pick<ProgramServer, "command" | "args" | "env" | "cwd" | "sandboxed" | "hash">;

function programOf(name: string, entry: Entry, env: Environment | undefined): Program {
  const command = expanded(textOf(entry, "command") ?? "", env);
  if (command.trim() === "") throw new EntryError("is not used: it needs a command or a url");
  const args = listOf(entry, "args").map((one) => expanded(one, env));
  const own = Object.entries(objectOf(entry, "env")).map(([key, value]) => [key, expanded(value, env)]);
  const cwd = textOf(entry, "cwd");
  const started = {
    ...{ command, args, env: Object.fromEntries(own) as Record<string, string> },
    cwd: cwd === undefined ? undefined : expanded(cwd, env),
  };
  return { ...started, sandboxed: entry.sandbox !== false, hash: hashOf({ name, ...started }) };
}

type Address = Pick<HttpServer, "url" | "headers" | "client" | "hash">;

function addressOf(name: string, entry: Entry, env: Environment | undefined): Address {
  const url = expanded(textOf(entry, "url") ?? "", env);
  if (env || !url.includes("${")) checkUrl(url);
  const headers = objectOf(entry, "headers");
  const sent = Object.entries(headers).map(([key, value]) => [key, headerOf(key, expanded(value, env))]);
  return {
    ...{ url, headers: Object.fromEntries(sent) as Record<string, string>, client: clientOf(entry, env) },
    // A new token is no other server.
    hash: hashOf({ name, url, headers }),
  };
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new EntryError("is not used: url must begin with https:// or http://");
  if (parsed.username !== "" || parsed.password !== "")
    throw new EntryError("is not used: url may not hold a password: use headers");
}

function headerOf(name: string, value: string): string {
  if (/^[!#$%&'*+.^`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value;
  throw new EntryError(`is not used: the header ${name} has a sign that no header can have`);
}

function clientOf(entry: Entry, env: Environment | undefined): OAuthClient | undefined {
  if (entry.oauth === undefined) return undefined;
  const { callbackPort: port, ...texts } = isObject(entry.oauth) ? entry.oauth : { wrong: true };
  const isPort = port === undefined || (Number.isInteger(port) && Number(port) > 0 && Number(port) < 65536);
  const keys = ["clientId", "clientSecret", "scope"];
  const fine = Object.entries(texts).every(([key, one]) => keys.includes(key) && typeof one === "string");
  if (!isPort || !fine)
    throw new EntryError(
      "is not used: oauth has the texts clientId, clientSecret and scope, and the number callbackPort",
    );
  const { clientId, clientSecret, scope } = Object.fromEntries(
    Object.entries(texts).map(([key, one]) => [key, expanded(String(one), env)]),
  );
  return {
    ...(clientId ? { id: clientId } : {}),
    ...(clientSecret ? { secret: clientSecret } : {}),
    ...(scope ? { scope } : {}),
    ...(port === undefined ? {} : { port: Number(port) }),
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
  if (isObject(value) && Object.values(value).every((one) => typeof one === "string"))
    return value as Record<string, string>;
  throw new EntryError(`is not used: ${key} must be an object of texts`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
