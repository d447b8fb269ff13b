/**
 * Makes the tools of servers commands of the shell: a program `mcp`, which may call what the permitted command line that
 * runs names. Nothing of it is made before the first command of a session with servers.
 */

import type { Access } from "../../core/ports.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { Listener } from "../../mcp/shell/listener.ts";
import { type NamedTool, serverCalls } from "../../permissions/bash/server-calls.ts";
import type { ShellServers } from "../../permissions/decision.ts";
import { parserFor } from "../bash-grammar.ts";
import { programFolder, type ShellCallParts, type ShellCalls } from "./shell-program.ts";

/** The tools that a command may call. `command`: the id of its call, or `job <pid>`. */
type Grant = { named: ReadonlySet<string>; command: string; isOver(): boolean };

/** Returns the servers as permissions see them. */
export function shellServers(servers: SessionServers | undefined): ShellServers | undefined {
  return (
    servers && {
      names: servers.names,
      readsOnly: (server, tool) =>
        servers.configuration(server)?.trusted === true && servers.toolOf(server, tool)?.readOnly === true,
    }
  );
}

/** Creates the commands. */
export function shellCalls(parts: ShellCallParts): ShellCalls {
  let grants: Grant[] = [];
  let listening: Promise<Listener | undefined> | undefined;
  let isClosed = false;
  const live = () => grants.filter((grant) => !grant.isOver());
  const grantFor = (name: string) => live().findLast(({ named }) => named.has(name));
  return {
    calling: (tool) => ({
      ...tool,
      async run(input, context) {
        listening ??= listen(parts, grantFor, () => live().at(-1)).catch((error: Error) => {
          parts.warn(`commands cannot call tools of MCP servers: ${error.message}`);
          return undefined;
        });
        await listening;
        const waiting = parts.isWaiting() ? grants.at(-1)?.named : undefined;
        const calls = await namedBy(context.access, parts.servers.names);
        const named = calls && new Set(calls.map(({ server, tool }) => nameOf(server, tool)));
        const grant: Grant = {
          named: named ?? waiting ?? new Set(),
          command: context.toolUseId,
          isOver: () => false,
        };
        grants = [...live(), grant];
        const before = new Set(parts.jobs().map(({ pid }) => pid));
        try {
          return await tool.run(input, context);
        } finally {
          const job = parts.jobs().find(({ pid }) => !before.has(pid));
          if (job) grant.command = `job ${job.pid}`;
          grant.isOver = job ? () => !isRunning(parts, job.pid) : () => isClosed || !parts.isWaiting();
          grants = live();
        }
      },
    }),
    close() {
      isClosed = true;
      void listening?.then((listener) => listener?.close());
    },
  };
}

function isRunning({ jobs }: ShellCallParts, pid: number): boolean {
  return jobs().some((job) => job.pid === pid && job.state === "running");
}

/** Returns the calls that a command line names; undefined for other calls, and text typed into a line that waits. */
export async function namedBy(access: Access, servers: readonly string[]): Promise<NamedTool[] | undefined> {
  if (access.kind !== "execute" || access.command === "") return undefined;
  const parse = access.command.includes("mcp") ? await parserFor(access) : undefined;
  return serverCalls(access.command, servers, parse).named;
}

/** A tool's name may have any sign, a server's no zero byte. */
function nameOf(server: string, tool: string): string {
  return `${server}\0${tool}`;
}

async function listen(
  { session, servers }: ShellCallParts,
  grantFor: (name: string) => Grant | undefined,
  newest: () => Grant | undefined,
): Promise<Listener> {
  const [{ listenForCommands }, { answerCommands }] = await Promise.all([
    import("../../mcp/shell/listener.ts"),
    import("../../mcp/shell/answer.ts"),
  ]);
  const answer = answerCommands({
    servers,
    artifacts: session.artifacts,
    isNamed: (server, tool) => grantFor(nameOf(server, tool)) !== undefined,
    onCall(ended) {
      const { command } = grantFor(nameOf(ended.server, ended.tool)) ?? newest() ?? {};
      session.log.append({ type: "mcp_called", ...ended, ...(command ? { command } : {}) });
    },
  });
  return listenForCommands(programFolder(session.folder), answer);
}
