/** Starts servers: inside a sandbox of their own where there is one, unless the person says otherwise. */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Box, Sandbox } from "../../core/sandbox.ts";
import type { ProgramServer } from "../../mcp/configuration.ts";
import {
  lastLine,
  mostErrorBytes,
  type ServerProcess,
  serverEnvironment,
  startOnMachine,
} from "../../mcp/process.ts";
import { openProcessTable } from "../../tools/bash/shell/open-process-table.ts";
import { agentMark } from "../../tools/bash/shell/orphans.ts";
import { sessionProcesses, signal } from "../../tools/bash/shell/process-table.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";

type Place = {
  env: Readonly<Record<string, string | undefined>>;
  sessionId: string;
  /** The session's own folder. */
  folder: string;
  /** Folder for servers that name none. */
  workspace: string;
  sandbox: Pick<SessionSandbox, "forServer">;
  /** Folders that a server may write in its sandbox besides those of commands, by its name. */
  writable: Readonly<Record<string, readonly string[]>>;
};

/** Returns a function that starts a server. It rejects with why it cannot. */
export function serverStarter(place: Place): (configuration: ProgramServer) => Promise<ServerProcess> {
  return async (configuration) => {
    const { name, sandboxed } = configuration;
    const mark = markOf(place, name);
    const env = { ...serverEnvironment(place.env, configuration), ...mark };
    const sandbox = sandboxed ? await place.sandbox.forServer(place.writable[name] ?? []) : undefined;
    if (sandbox) {
      const process = await startInside(sandbox, configuration, { env, cwd: place.workspace });
      return sandbox.endsAll ? process : endingAll(process, mark.SAWTOOTH_SESSION);
    }
    const errors = join(place.folder, "mcp", `${name}.stderr.txt`);
    const process = await startOnMachine({ configuration, cwd: place.workspace, env, errors });
    return endingAll(process, mark.SAWTOOTH_SESSION);
  };
}

/** Marks the processes of a server, so that those that a killed run leaves behind are found and ended. */
function markOf({ sessionId, folder }: Place, name: string) {
  return {
    SAWTOOTH_SESSION: `${sessionId}-mcp-${name}`,
    SAWTOOTH_STATE: folder,
    SAWTOOTH_AGENT: agentMark(),
  };
}

/** Ends, with a server, what it started elsewhere: by the mark in its environment. */
function endingAll(server: ServerProcess, session: string): ServerProcess {
  const sweep = (): void => {
    const processes = openProcessTable();
    for (const { pid } of sessionProcesses(processes, processes.all(), session, {})) signal(pid, "SIGKILL");
  };
  return {
    ...server,
    async end() {
      await server.end();
      sweep();
    },
    kill() {
      server.kill();
      sweep();
    },
  };
}

async function startInside(
  sandbox: Sandbox,
  configuration: ProgramServer,
  { env, cwd }: { env: Record<string, string>; cwd: string },
): Promise<ServerProcess> {
  const box = await sandbox.open({ terminal: undefined, env });
  const mark = randomBytes(12).toString("hex");
  const errors = `mcp-${configuration.name}.stderr.txt`;
  const { server, ready } = processIn(box, mark, () => lastWordsIn(sandbox.hostPath(join("/tmp", errors))));
  box.startShell("/dev/null");
  const { env: own, cwd: folder = cwd } = configuration;
  box.send(startLines(configuration, { env: own, cwd: folder, mark }));
  // A sandbox does not keep our process alive.
  const awake = setInterval(() => {}, 1000);
  const missing = await ready.finally(() => clearInterval(awake));
  if (missing === "program")
    throw new Error(
      `there is no program ${configuration.command} inside of the sandbox; "sandbox": false in its entry starts it outside`,
    );
  if (missing === "folder") throw new Error(`there is no folder ${folder} inside of the sandbox`);
  return server;
}

function lastWordsIn(file: string): string {
  try {
    return lastLine(readFileSync(file, "utf8").slice(-2000));
  } catch {
    return "";
  }
}

/**
 * Returns the lines for the shell that becomes the server. Its variables are exported here: a sandbox drops those that
 * hold a secret, and these the person gave to it. The inner shell reads nothing, and says what is not there. It prints
 * `mark` last: a shell reads ahead, so nothing for the server may be sent before.
 */
function startLines(
  { name, command, args }: ProgramServer,
  { env, cwd, mark }: { env: Record<string, string>; cwd: string; mark: string },
): string {
  const exports = Object.entries(env).flatMap(([key, value]) =>
    /^[A-Za-z_]\w*$/.test(key) ? [`export ${key}=${quoted(value)}`] : [],
  );
  const check = (line: string, what: string) =>
    `${line} || { builtin echo ${mark} ${what}; builtin exit 127; }`;
  const run = quoted(
    [
      check('builtin cd -- "$0"', "folder"),
      check('builtin type -P -- "$1" >/dev/null', "program"),
      `builtin echo ${mark}`,
      'exec "$@"',
    ].join("; "),
  );
  const errors = `>(head -c ${mostErrorBytes} >>"$TMPDIR"/mcp-${quoted(name)}.stderr.txt; exec cat >/dev/null)`;
  const words = [cwd, command, ...args].map(quoted).join(" ");
  return [
    "set +m +H; set +o history",
    ...exports,
    `exec bash --noprofile --norc -c ${run} ${words} 2> ${errors}`,
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the server in a sandbox; `ready` resolves when it has begun, with what was not there where it failed to. */
function processIn(
  box: Box,
  mark: string,
  lastWords: () => string,
): { server: ServerProcess; ready: Promise<string> } {
  let [onBytes, onEnd]: [((bytes: Buffer) => void)?, ((how: string) => void)?] = [];
  let ended: string | undefined;
  let early = Buffer.alloc(0);
  const begun = Promise.withResolvers<string>();
  const line = new RegExp(`${mark} ?(\\w*)\\n`);
  const finish = (how: string): void => {
    if (ended !== undefined) return;
    ended = how;
    box.kill();
    begun.resolve("");
    onEnd?.(how);
  };
  box.listen({
    bytes(bytes) {
      if (onBytes) return onBytes(Buffer.from(bytes));
      early = Buffer.concat([early, bytes]);
      const found = line.exec(early.toString("latin1"));
      if (!found) return;
      early = early.subarray(found.index + found[0].length);
      begun.resolve(found[1] ?? "");
    },
    shellEnded: (status) => void setImmediate(() => finish(`ended with exit code ${status}`)),
    ended: () => finish("ended with its sandbox"),
  });
  const server: ServerProcess = {
    send: box.send,
    onBytes(listener) {
      onBytes = listener;
      if (early.length > 0) listener(early);
    },
    onEnd(listener) {
      onEnd = listener;
      if (ended !== undefined) listener(ended);
    },
    end: async () => finish("was closed"),
    kill: box.kill,
    lastWords,
  };
  return { server, ready: begun.promise };
}
