/** The place that commands run in: the sandbox, its network, the shell, servers, and the tools over them. */

import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import type { Settings } from "../../config/settings.ts";
import type { PermissionMode } from "../../core/decision.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { OpenSession } from "../../session/store.ts";
import { createShell } from "../../tools/bash/shell/shell.ts";
import type { Delegation } from "../delegate/delegation.ts";
import type { SessionSkills } from "../instructions/skills.ts";
import { laterShellCalls } from "../mcp/later-calls.ts";
import { configuredServers } from "../mcp/session-servers.ts";
import { type ShellCalls, withProgram } from "../mcp/shell-program.ts";
import { fetchParts, offersPages } from "../network/fetch-parts.ts";
import type { SessionPlugins } from "../plugins/session-plugins.ts";
import type { standingRules } from "../rules.ts";
import { commandSandbox } from "../sandbox/command-sandbox.ts";
import { sandboxWithNetwork } from "../sandbox/sandbox-with-network.ts";
import type { OpenOptions } from "../session.ts";
import { sessionTools } from "../tools.ts";
import { readableFolders, realHome, sessionRoot, workspaceOf } from "./folders.ts";

type Chosen = {
  cwd: string;
  settings: Settings;
  mode: PermissionMode;
  standing: ReturnType<typeof standingRules>;
  redact(text: string): string;
  skills: SessionSkills;
  plugins: SessionPlugins;
  delegation: Delegation | undefined;
};

/** Creates what commands run in: the sandbox, its network, the shell, and the tools over them. Nothing starts yet. */
export async function workplaceOf(session: OpenSession, options: OpenOptions, chosen: Chosen) {
  const { env } = options;
  const { cwd, settings, mode, standing, redact, skills } = chosen;
  const { sandbox, network } = sandboxWithNetwork({
    ...{ log: session.log, options, settings, standing, workspace: workspaceOf(cwd, options) },
    ...{ home: realHome(env), own: { ...folders(env), sessions: sessionRoot(options) } },
    // A new session has no ancestors, and no first event yet.
    folders: () => (session.log.events().length === 0 ? [session.folder] : readableFolders(session)),
    mode: () => (options.person ?? options.driver)?.mode?.() ?? mode,
    jobs: () => shell.jobs(),
    onFound: () => shell.warm(),
  });
  const { id: sessionId, folder, log } = session;
  const { onMachine } = sandbox;
  const servers = await configuredServers({
    ...{ session, options, settings, sandbox, workspace: workspaceRoot(cwd), plugins: chosen.plugins },
  });
  const shellEnv = servers ? withProgram(env, folder) : env;
  const inside = createShell({
    ...{ cwd, env: shellEnv, sessionId, stateFolder: folder, sandbox: sandbox.forShell },
  });
  const { shell, commands, ...walls } = commandSandbox({
    ...{ shell: inside, log, sessionId, folder, env: shellEnv, sandbox },
    ...{ workspace: workspaceOf(cwd, options), home: realHome(env), peers: options.delegate?.peers },
  });
  const isWaiting = () => [shell, commands.outside].some((one) => one.waiting() !== undefined);
  const { jobs } = shell;
  const calls = servers && laterShellCalls({ session, servers, jobs, isWaiting, warn: options.warn });
  const tools = sessionTools({
    ...{ folder, workspace: workspaceRoot(cwd), shell, settings, onMachine, servers },
    watched: (tool) => (calls ? calls.calling(network.watched(tool)) : network.watched(tool)),
    isInstruction: skills.isInstruction,
    commands: sandbox.choice === "off" ? undefined : commands,
    fetching: offersPages(session, standing) ? fetchParts({ log, network, redact }) : undefined,
    delegation: chosen.delegation,
    delegated: options.delegate,
  });
  return {
    sandbox,
    network,
    shell,
    tools: options.withoutTools ? [] : [...tools, ...(options.tools ?? [])],
    walls,
    servers: servers && endingWith(servers, calls),
  };
}

/** Ends the way of commands to the servers with them. */
function endingWith(servers: SessionServers, calls: ShellCalls | undefined): SessionServers {
  return {
    ...servers,
    async close() {
      calls?.close();
      await servers.close();
    },
  };
}
