/** The program `mcp` for the shell: where it lies, and what answers it. */

import { delimiter, join } from "node:path";
import type { BackgroundJob, Tool } from "../../core/ports.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { OpenSession } from "../../session/store.ts";
import { shellPlaces } from "../../tools/bash/shell/shell.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type ShellCallParts = {
  session: Pick<OpenSession, "folder" | "log" | "artifacts">;
  servers: SessionServers;
  jobs(): readonly BackgroundJob[];
  /** Returns true while a command waits for input. */
  isWaiting(): boolean;
  /** Shows one line to the person. */
  warn(text: string): void;
};

export type ShellCalls = {
  /** Returns the tool that runs commands, with what each may call. */
  calling(tool: Tool): Tool;
  close(): void;
};

/** Returns the environment of a shell that finds the program first. `folder`: the session's own. */
export function withProgram(env: Environment, folder: string): Environment {
  return { ...env, PATH: [programFolder(folder), ...(env.PATH ? [env.PATH] : [])].join(delimiter) };
}

/** Returns the folder that holds the program. */
export function programFolder(folder: string): string {
  return join(shellPlaces(folder).in, "bin");
}
