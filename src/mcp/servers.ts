/** The servers of a session: started at their first call, and told to the model as facts that are appended. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type Catalogue,
  differenceNote,
  type Listed,
  type RemoteTool,
  readCatalogue,
  serverLine,
  serverLines,
  storeCatalogue,
  wasTold,
  writeToolFiles,
} from "./catalogue.ts";
import type { ServerConfiguration } from "./configuration.ts";
import type { Connection } from "./connection.ts";
import type { ServerProcess } from "./process.ts";

export type ServersOptions = {
  configurations: readonly ServerConfiguration[];
  /** Folder of the session for the files about tools. */
  folder: string;
  /** Folder that keeps catalogues from one session to the next. */
  cache: string;
  version: string;
  start(configuration: ServerConfiguration): Promise<ServerProcess>;
  /** Shows one line to the person. */
  warn(text: string): void;
};

export type SessionServers = {
  names: readonly string[];
  configuration(name: string): ServerConfiguration | undefined;
  /** Returns the lines for the first message, and writes the files that they name. */
  firstLines(): string[];
  /** Returns what changed since the model was told, in sentences. */
  takeNotices(): string[];
  /** Connects, in the background, to the servers that were never connected to. */
  connectNew(): void;
  /** Returns a tool as it is known now. */
  toolOf(server: string, tool: string): RemoteTool | undefined;
  /** Returns the tools of a server as they are known now; undefined before its first connection. */
  toolsOf(server: string): readonly RemoteTool[] | undefined;
  /** Returns the connection of a server, which is started if need be. Rejects with why it cannot. */
  connection(name: string): Promise<Connection>;
  /** Returns the folder of the files about the tools of a server. */
  folderOf(name: string): string;
  /** Ends every server. */
  close(): Promise<void>;
  /** Ends every server at once, for the exit of our process. */
  kill(): void;
};

type Server = {
  configuration: ServerConfiguration;
  folder: string;
  catalogue: Catalogue | undefined;
  connecting: Promise<Connection> | undefined;
  process: ServerProcess | undefined;
  /** The model has not been told of the catalogue as it is. */
  untold: boolean;
  /** Notes about changes so far. */
  notes: number;
  /** Why it could not be started for the first time, until the model is told. */
  failure: string | undefined;
};

/** After this many notes about changes of a server only its files are kept current. */
const mostNotes = 5;

/** Creates the servers of a session. Nothing is started or loaded yet. */
export function createServers(given: ServersOptions): SessionServers {
  const options: ServersOptions = {
    ...given,
    start: async (configuration) => {
      if (isClosed) throw new Error("the session has ended");
      return given.start(configuration);
    },
    warn: (text) => void (isClosed || given.warn(text)),
  };
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const servers = new Map(options.configurations.map((one) => [one.name, serverOf(one, options)]));
  const all = () => [...servers.values()];
  let isClosed = false;
  const find = (name: string): Server => {
    const server = servers.get(name);
    if (!server) throw new Error(`there is no server ${name}`);
    return server;
  };
  return {
    names: [...servers.keys()],
    configuration: (name) => servers.get(name)?.configuration,
    firstLines: () => firstLines(all()),
    takeNotices: () => all().flatMap((server) => noticesOf(server)),
    connectNew() {
      for (const server of all()) if (!server.catalogue) connectFirst(server, options);
    },
    toolOf: (server, tool) => servers.get(server)?.catalogue?.tools.find(({ name }) => name === tool),
    toolsOf: (server) => servers.get(server)?.catalogue?.tools,
    connection: (name) => connected(find(name), options),
    folderOf: (name) => find(name).folder,
    async close() {
      isClosed = true;
      await Promise.all(all().map((server) => closed(server)));
    },
    kill() {
      for (const { process } of all()) process?.kill();
    },
  };
}

function serverOf(configuration: ServerConfiguration, { folder, cache }: ServersOptions): Server {
  const catalogue = readCatalogue(cache, configuration.hash);
  return {
    ...{ configuration, catalogue, folder: join(folder, configuration.name) },
    ...{ connecting: undefined, process: undefined, failure: undefined },
    ...{ untold: catalogue !== undefined, notes: 0 },
  };
}

function listed({ configuration: { name }, folder, catalogue }: Server): Listed {
  return { name, folder, catalogue };
}

function firstLines(servers: Server[]): string[] {
  for (const server of servers) {
    if (!server.catalogue) continue;
    writeToolFiles(server.folder, server.catalogue);
    server.untold = false;
  }
  return serverLines(servers.map(listed));
}

/** Bytes of a note about a server that is ready. */
const noteBytes = 2000;

function noticesOf(server: Server): string[] {
  const { failure, catalogue, folder } = server;
  server.failure = undefined;
  if (failure !== undefined) return [failure];
  if (!catalogue || !server.untold) return [];
  server.untold = false;
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
    const { name } = server.configuration;
    server.failure = `MCP server ${name} cannot be started: ${error.message}`;
    options.warn(server.failure);
  });
}

/** Returns the connection, and starts the server when there is none. */
function connected(server: Server, options: ServersOptions): Promise<Connection> {
  server.connecting ??= start(server, options).catch((error: Error) => {
    server.connecting = undefined;
    server.process = undefined;
    throw error;
  });
  return server.connecting;
}

async function start(server: Server, options: ServersOptions): Promise<Connection> {
  const { connect } = await import("./connection.ts");
  const { configuration } = server;
  const learn = (catalogue: Catalogue): void => {
    server.catalogue = catalogue;
    server.untold = true;
    storeCatalogue(options.cache, configuration.hash, catalogue);
  };
  const connection = await connect({
    async start() {
      server.process = await options.start(configuration);
      return server.process;
    },
    prior: server.catalogue?.prior,
    version: options.version,
    onTools: (tools) => server.catalogue && learn({ ...server.catalogue, tools }),
    onEnded() {
      server.connecting = undefined;
      server.process = undefined;
    },
  });
  learn(connection.catalogue);
  return connection;
}

async function closed({ connecting, process }: Server): Promise<void> {
  // One that never answers is not waited for.
  if (process) await process.end();
  connecting?.then(
    (connection) => connection.close(),
    () => {},
  );
}
