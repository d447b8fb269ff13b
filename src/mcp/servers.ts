/** The servers of a session: started at their first call, and told to the model as facts that are appended. */

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Catalogue,
  differenceNote,
  type Listed,
  type RemotePrompt,
  type RemoteTool,
  readCatalogue,
  serverLine,
  serverLines,
  storeCatalogue,
  wasTold,
  writeToolFiles,
} from "./catalogue.ts";
import { isChanged } from "./changes.ts";
import type { ProgramServer, ServerConfiguration } from "./configuration.ts";
import type { Connection, Target } from "./connection.ts";
import type { Elicit } from "./elicitation.ts";
import { ConnectFailed, notConnected } from "./failures.ts";
import type { ServerProcess } from "./process.ts";

export type ServersOptions = {
  configurations: readonly ServerConfiguration[];
  /** Folder of the session for the files about tools. */
  folder: string;
  /** Folder that keeps catalogues from one session to the next. */
  cache: string;
  /** The offers that a person saw: a changed one waits for them. */
  seen: SeenOffers;
  /** Folder that keeps sign-ins. */
  credentials: string;
  version: string;
  start(configuration: ProgramServer): Promise<ServerProcess>;
  /** Asks the person what a server asks; declines where nobody is there. */
  elicit(server: string, ...about: Parameters<Elicit>): ReturnType<Elicit>;
  /** Shows one line to the person. */
  warn(text: string): void;
};

/** The offers that a person saw, by the name of the server. */
export type SeenOffers = {
  /** Returns the one that they saw last; undefined for a server that is new. */
  of(name: string): Catalogue | undefined;
  keep(name: string, offer: Catalogue): void;
  /** Returns true where the person wants no question about changes. */
  isFree(name: string): boolean;
};

export type SessionServers = {
  names: readonly string[];
  configuration(name: string): ServerConfiguration | undefined;
  /** Returns the lines for the first message. The files that they name wait for `writeFiles`. */
  firstLines(): string[];
  /** Writes the files that lines name and that are not there yet: before the first call, which could look at them. */
  writeFiles(): void;
  /** Returns what changed since the model was told, in sentences. */
  takeNotices(): string[];
  /** Connects, in the background, to the servers that were never connected to. */
  connectNew(): void;
  /** Returns a tool as it is known now. */
  toolOf(server: string, tool: string): RemoteTool | undefined;
  /** Returns the tools of a server as they are known now; undefined before its first connection. */
  toolsOf(server: string): readonly RemoteTool[] | undefined;
  /** Returns the prompts of a server as they are known now; undefined before its first connection. */
  promptsOf(server: string): readonly RemotePrompt[] | undefined;
  /** Returns the connection of a server, which is started if need be. Rejects with why it cannot. */
  connection(name: string): Promise<Connection>;
  /** Returns the folder of the files about the tools of a server. */
  folderOf(name: string): string;
  /** Returns how a server changed since a person saw it, in lines; undefined when it did not. Nothing of it counts yet. */
  changes(name: string): Promise<string[] | undefined>;
  /** Takes the changed offer of a server: a person has seen it. */
  accept(name: string): void;
  /** Returns how each server stands. */
  states(): ServerState[];
  /** Ends a server and starts it again. Rejects with why it cannot. */
  restart(name: string): Promise<void>;
  /** Ends every server. */
  close(): Promise<void>;
  /** Ends every server at once, for the exit of our process. */
  kill(): void;
};

/** `tools`: undefined before the first connection. `why`: of the last start that failed. `changed`: waits for a person. */
export type ServerState = {
  name: string;
  state: "not_started" | "starting" | "running";
  tools: number | undefined;
  why: string | undefined;
  changed: boolean;
};

type Server = {
  configuration: ServerConfiguration;
  folder: string;
  catalogue: Catalogue | undefined;
  connecting: Promise<Connection> | undefined;
  /** Every program that was started: one whose connection was closed may run for a while. */
  started: Set<ServerProcess>;
  process: ServerProcess | undefined;
  isRunning: boolean;
  /** Why the last start failed. */
  why: string | undefined;
  /** A newer offer, which nobody has seen. */
  unseen: Catalogue | undefined;
  /** The offer of the last connection is known, and so are the two above and below. */
  isRecalled: boolean;
  /** How it is connected to: the protocol that it speaks, once that is known. */
  prior: unknown;
  /** The model has not been told of the catalogue as it is. */
  untold: boolean;
  /** The catalogue that the model was told of, while no file holds it. */
  unwritten: Catalogue | undefined;
  /** Notes about changes so far. */
  notes: number;
  /** The last failure to start it, at milliseconds since 1970. */
  failed: { error: Error; at: number } | undefined;
  /** Why it could not be started for the first time, until the model is told. */
  failure: string | undefined;
};

/** Milliseconds that the end of a session waits for servers at an address. */
const farewellMs = 600;
/** Milliseconds for which a server that could not be started is not tried again: a call asks for it more than once. */
const sameFailureMs = 1000;
/** After this many notes about changes of a server only its files are kept current. */
const mostNotes = 5;

/** Creates the servers of a session. Nothing is started or loaded yet. */
export function createServers(given: ServersOptions): SessionServers {
  const options: ServersOptions = {
    ...given,
    start: async (configuration) => {
      const process = isClosed ? undefined : await given.start(configuration);
      if (process && !isClosed) return process;
      await process?.end();
      throw new Error("the session has ended");
    },
    warn: (text) => void (isClosed || given.warn(text)),
  };
  const servers = new Map(options.configurations.map((one) => [one.name, serverOf(one, options)]));
  const all = () => [...servers.values()];
  let isClosed = false;
  const find = (name: string): Server => {
    const server = servers.get(name);
    if (!server) throw new Error(`there is no server ${name}`);
    return recalled(server, options);
  };
  return {
    names: [...servers.keys()],
    configuration: (name) => servers.get(name)?.configuration,
    firstLines: () => firstLines(all()),
    writeFiles: () => writeFiles(all(), options),
    takeNotices: () => all().flatMap((server) => noticesOf(server, options)),
    connectNew() {
      for (const server of all()) if (!server.catalogue) connectFirst(server, options);
    },
    toolOf: (server, tool) => servers.get(server)?.catalogue?.tools.find(({ name }) => name === tool),
    toolsOf: (server) => servers.get(server)?.catalogue?.tools,
    promptsOf(name) {
      const server = servers.get(name);
      const known = server && newest(recalled(server, options));
      return known && (known.prompts ?? []);
    },
    connection: (name) => connected(find(name), options),
    folderOf: (name) => find(name).folder,
    changes: async (name) => {
      const { catalogue, unseen } = find(name);
      return catalogue && unseen && (await import("./changes.ts")).changeLines(catalogue, unseen);
    },
    accept(name) {
      const server = find(name);
      if (server.unseen) take(server, server.unseen, options);
    },
    states: () => all().map((server) => stateOf(recalled(server, options))),
    restart: (name) => restarted(find(name), options),
    async close() {
      isClosed = true;
      writeFiles(all(), given);
      await Promise.all(all().map((server) => closed(server)));
    },
    kill() {
      for (const { started } of all()) for (const process of started) process.kill();
    },
  };
}

function serverOf(configuration: ServerConfiguration, { folder, cache, seen }: ServersOptions): Server {
  const { name, hash } = configuration;
  const offer = seen.isFree(name) ? undefined : seen.of(name);
  const catalogue = offer ?? readCatalogue(cache, hash);
  return {
    ...{ unseen: undefined, isRecalled: offer === undefined, isRunning: false, why: undefined },
    ...{ configuration, catalogue, folder: join(folder, configuration.name) },
    ...{
      started: new Set<ServerProcess>(),
      connecting: undefined,
      process: undefined,
      failure: undefined,
      failed: undefined,
    },
    prior: catalogue?.prior,
    ...{ untold: catalogue !== undefined, unwritten: undefined, notes: 0 },
  };
}

/** Reads the offer of the last connection, which the first request does not wait for. Returns the server. */
function recalled(server: Server, { cache }: ServersOptions): Server {
  if (server.isRecalled) return server;
  server.isRecalled = true;
  const { catalogue, configuration } = server;
  const last = readCatalogue(cache, configuration.hash);
  server.prior = last?.prior;
  server.unseen = last && catalogue && isChanged(catalogue, last) ? last : undefined;
  return server;
}

function listed({ configuration: { name }, folder, catalogue }: Server): Listed {
  return { name, folder, catalogue };
}

function firstLines(servers: Server[]): string[] {
  for (const server of servers) {
    if (!server.catalogue) continue;
    server.unwritten = server.catalogue;
    server.untold = false;
  }
  return serverLines(servers.map(listed));
}

function writeFiles(servers: Server[], { warn }: ServersOptions): void {
  for (const server of servers) {
    const { unwritten, folder, configuration } = server;
    server.unwritten = undefined;
    try {
      if (unwritten) writeToolFiles(folder, unwritten);
    } catch (error) {
      // A full disk ends no session.
      warn(`the schemas of MCP server ${configuration.name} cannot be written: ${(error as Error).message}`);
    }
  }
}

/** Bytes of a note about a server that is ready. */
const noteBytes = 2000;

function noticesOf(server: Server, options: ServersOptions): string[] {
  const { failure, catalogue, folder } = server;
  server.failure = undefined;
  if (failure !== undefined) return [failure];
  if (!catalogue || !server.untold) return [];
  server.untold = false;
  writeFiles([server], options);
  const isKnown = wasTold(folder);
  const difference = writeToolFiles(folder, catalogue);
  if (!isKnown) return [`MCP server ${serverLine(listed(server), noteBytes)}`];
  const note = differenceNote(listed(server), difference);
  if (note === undefined || server.notes >= mostNotes) return [];
  server.notes += 1;
  return [
    server.notes < mostNotes
      ? note
      : `${note}. It changes often: from now on only its files are kept current`,
  ];
}

function connectFirst(server: Server, options: ServersOptions): void {
  connected(server, options).catch((error: Error) => {
    server.failure = notConnected(server.configuration, error);
    options.warn(server.failure);
  });
}

/** Returns the connection, and starts the server when there is none. */
function connected(server: Server, options: ServersOptions): Promise<Connection> {
  const { failed } = server;
  if (failed && Date.now() - failed.at < sameFailureMs) return Promise.reject(failed.error);
  server.connecting ??= start(server, options).catch((error: Error) => {
    server.connecting = undefined;
    server.process = undefined;
    server.why = error.message;
    server.failed = { error, at: Date.now() };
    throw error;
  });
  return server.connecting;
}

async function restarted(server: Server, options: ServersOptions): Promise<void> {
  const before = server.connecting;
  await closed(server);
  const farewell = before?.then(
    (connection) => connection.close(),
    () => {},
  );
  await Promise.race([farewell, sleep(farewellMs)]);
  server.connecting = undefined;
  server.isRunning = false;
  await connected(server, options);
}

function stateOf({ configuration, connecting, isRunning, catalogue, why, unseen }: Server): ServerState {
  return {
    name: configuration.name,
    state: isRunning ? "running" : connecting ? "starting" : "not_started",
    tools: catalogue?.tools.length,
    ...{ why, changed: unseen !== undefined },
  };
}

/** Returns true when an offer differs from the one that a person saw, and they want to see that. */
function waits({ configuration, catalogue }: Server, offer: Catalogue, { seen }: ServersOptions): boolean {
  return catalogue !== undefined && !seen.isFree(configuration.name) && isChanged(catalogue, offer);
}

/** Makes an offer the one that counts. The first of a server is taken as it is. */
function take(server: Server, offer: Catalogue, { seen }: ServersOptions): void {
  server.catalogue = offer;
  server.unseen = undefined;
  server.untold = true;
  seen.keep(server.configuration.name, offer);
}

function newest({ catalogue, unseen }: Server): Catalogue | undefined {
  return unseen ?? catalogue;
}

async function start(server: Server, options: ServersOptions): Promise<Connection> {
  const { connect } = await import("./connection.ts");
  const { configuration } = server;
  const learn = (catalogue: Catalogue): void => {
    server.prior = catalogue.prior;
    storeCatalogue(options.cache, configuration.hash, catalogue);
    if (waits(server, catalogue, options)) server.unseen = catalogue;
    else take(server, catalogue, options);
  };
  try {
    const connection = await connect({
      target: targetOf(server, options),
      prior: server.prior,
      version: options.version,
      elicit: (...about) => options.elicit(configuration.name, ...about),
      onChanged: (offers) => newest(server) && learn({ ...(newest(server) as Catalogue), ...offers }),
      onEnded() {
        server.connecting = undefined;
        server.process = undefined;
        server.isRunning = false;
      },
    });
    learn(connection.catalogue);
    server.isRunning = true;
    server.why = undefined;
    return connection;
  } catch (error) {
    // It was started with and without the question which protocol it speaks: from now on once a call.
    if (error instanceof ConnectFailed && error.kind === "ended")
      server.prior ??= { kind: "legacy", since: Date.now() };
    throw error;
  }
}

function targetOf(server: Server, { start, credentials }: ServersOptions): Target {
  const { configuration } = server;
  if (configuration.kind === "http") return { kind: "http", server: configuration, credentials };
  return {
    kind: "program",
    async start() {
      mkdirSync(dirname(server.folder), { recursive: true, mode: 0o700 });
      server.process = await start(configuration);
      server.started.add(server.process);
      return server.process;
    },
  };
}

async function closed({ configuration, connecting, process }: Server): Promise<void> {
  const closing = connecting?.then(
    (connection) => connection.close(),
    () => {},
  );
  // A program that never answers is not waited for.
  if (process) await process.end();
  else if (configuration.kind === "http") await Promise.race([closing, sleep(farewellMs)]);
}
