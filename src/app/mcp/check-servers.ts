/** Starts each server once, outside of any session, and says what it offers or why it cannot be used. */

import { setTimeout as sleep } from "node:timers/promises";
import { workspaceRoot } from "../../config/instructions.ts";
import { ownName } from "../../disk/process-name.ts";
import type { ServerConfiguration } from "../../mcp/configuration.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { SessionOptions } from "../options.ts";
import { checkSandbox } from "../sandbox/check-sandbox.ts";
import { usableServers } from "./listing.ts";
import { openServers } from "./open-servers.ts";

/** `ms`: until its tools were known. `problem`: why it cannot be used. `changed`: its tools wait for a person. */
export type ServerCheck = { name: string; ms: number } & (
  | { tools: number; protocol: string; changed: boolean }
  | { problem: string }
);

/** Milliseconds that a server may take. */
const longestMs = 15_000;

const usual: SessionOptions = {
  ...{ allow: [], deny: [], addDirs: [] },
  ...{ continueNewest: false, fork: false, bare: false, loose: false },
};

/** Checks the servers that a session in `cwd` would have, all at once. None is left running. Throws `SettingsError`. */
export async function checkServers(
  env: Record<string, string | undefined>,
  cwd: string,
): Promise<ServerCheck[]> {
  const { entries, configurations, writable } = await usableServers({ env, cwd });
  if (configurations.length === 0) return [];
  const sandbox = checkSandbox({ flags: usual, env, cwd, warn() {} });
  const folder = sandbox.folder();
  const servers = openServers({
    ...{ configurations, entries, writable, env, folder, warn() {} },
    ...{ sessionId: `doctor-${ownName()}`, workspace: workspaceRoot(cwd), sandbox },
  });
  try {
    return await Promise.all(configurations.map((one) => checked(one, servers)));
  } finally {
    servers.kill();
    await servers.close();
    sandbox.close();
  }
}

async function checked({ name }: ServerConfiguration, servers: SessionServers): Promise<ServerCheck> {
  const began = performance.now();
  const ms = () => Math.round(performance.now() - began);
  const late = sleep(longestMs, undefined, { ref: false }).then(() => {
    throw new Error(`no answer in ${longestMs / 1000} s`);
  });
  try {
    const { catalogue } = await Promise.race([servers.connection(name), late]);
    const changed = (await servers.changes(name)) !== undefined;
    return {
      name,
      ms: ms(),
      tools: catalogue.tools.length,
      protocol: catalogue.protocol ?? "unknown",
      changed,
    };
  } catch (error) {
    return { name, ms: ms(), problem: (error as Error).message };
  }
}
