/** Signing in with a server of the person's settings, and out of it. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { readSettings } from "../../config/settings.ts";
import { UsageError } from "../../core/errors.ts";
import { credentialsFolder } from "../../credentials/keys.ts";
import { type HttpServer, serversOf } from "../../mcp/configuration.ts";
import type { SigningIn } from "../../mcp/oauth/login.ts";
import { packageVersion } from "../prompts.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Begins a sign-in; "not_needed" for a server that answers without. Throws `CredentialsError` and `UsageError`. */
export async function signInToServer(name: string, env: Environment): Promise<SigningIn | "not_needed"> {
  const server = serverNamed(name, env);
  const { beginLogin } = await import("../../mcp/oauth/login.ts");
  return beginLogin({ server, credentials: folderOf(env), version: packageVersion() });
}

/** Ends a sign-in; false when there is none. Throws `CredentialsError` and `UsageError`. */
export async function signOutOfServer(name: string, env: Environment): Promise<boolean> {
  const server = serverNamed(name, env);
  const { logout } = await import("../../mcp/oauth/login.ts");
  return logout({ server, credentials: folderOf(env) });
}

function folderOf(env: Environment): string {
  return credentialsFolder(folders(env).state);
}

function serverNamed(name: string, env: Environment): HttpServer {
  const { mcpServers = {} } = readSettings(join(folders(env).config, "settings.json"));
  if (!Object.hasOwn(mcpServers, name))
    throw new UsageError(`there is no server ${name} in the settings: sawtooth mcp list has them`);
  const { servers, problems } = serversOf({ [name]: mcpServers[name] }, env);
  const [server] = servers;
  if (!server) throw new UsageError(problems[0] ?? `${name} is disabled in the settings`);
  if (server.kind !== "http")
    throw new UsageError(`${name} is a program: it gets its keys as variables, in env of its entry`);
  return server;
}
