/** The Agent Client Protocol: its methods over the sessions of this program. */

import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type InitializeRequest,
  type InitializeResponse,
  type LoadSessionResponse,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type SessionInfo,
  type Stream,
} from "@agentclientprotocol/sdk";
import type { Conversation } from "../app/conversation.ts";
import type { Person } from "../app/session.ts";
import { exitCodeOf } from "../core/errors.ts";
import { type Choices, choicesIn } from "./choices.ts";
import { checkParams } from "./params.ts";
import { asking, type Commands, type Session, sessionOf } from "./session.ts";
import type { Audience } from "./updates.ts";

/** A session to open. `resume`: the id of a stored one. */
export type Opening = {
  cwd: string;
  addDirs: string[];
  servers: Record<string, object>;
  resume?: string;
  ask: Person["ask"];
};

/** The program behind the protocol. Errors with an exit code are told to the client in their own words. */
export type Program = {
  version: string;
  open(opening: Opening): Promise<Conversation>;
  switching(conversation: Conversation): Parameters<typeof choicesIn>[1];
  commands(conversation: Conversation, changed: () => void): Promise<Commands>;
  /** A page of the stored sessions, the newest first: those of a folder, or all. `from`: 0, or the `next` of a page. */
  list(cwd: string | undefined, from: number): { sessions: SessionInfo[]; next?: number };
  /** Returns the folder that a stored session works in; undefined where there is no session with this id. */
  placeOf(id: string): string | undefined;
  /** Returns the title that a list of sessions shows. */
  title(folder: string): string;
  remove(id: string): Promise<void>;
  /** Throws when no model can be used. */
  checkModel(): Promise<void>;
};

type State = { program: Program; sessions: Map<string, Session>; capabilities: ClientCapabilities };

/** `ended` resolves when the client is gone and every session is closed; `close` hangs up. */
export type Served = { ended: Promise<void>; close(): void };

/** Serves one client until the stream ends. */
export function serve(stream: Stream, program: Program): Served {
  const state: State = { program, sessions: new Map(), capabilities: {} };
  const connection = appOf(state).connect(stream);
  const closeAll = () => Promise.all([...state.sessions.values()].map((session) => session.close()));
  const ended = connection.closed.catch(() => {}).then(async () => void (await closeAll()));
  return { ended, close: () => connection.close() };
}

type Handled = { method: string; params: unknown };

/** Checks the parameters of a request before it is handled. */
function checked<Context extends Handled, Result>(handle: (context: Context) => Result) {
  return async (context: Context): Promise<Awaited<Result>> => {
    checkParams(context.method, context.params);
    return await handle(context);
  };
}

function appOf(state: State): AgentApp {
  const { program } = state;
  const greet = checked(({ params }: { method: string; params: InitializeRequest }) => {
    state.capabilities = params.clientCapabilities ?? {};
    return greeting(state);
  });
  const authenticate = checked(async () => {
    await told(program.checkModel());
    return {};
  });
  const app = agent({ name: "sawtooth" })
    .onRequest(methods.agent.initialize, greet)
    .onRequest(methods.agent.authenticate, authenticate);
  return withTurns(withSessions(app, state), state);
}

/** Adds the methods that open, list and end sessions. */
function withSessions(app: AgentApp, state: State): AgentApp {
  const { new: begin, load, resume, list, close, delete: remove } = methods.agent.session;
  app.onRequest(
    begin,
    checked(async ({ params, client }) => {
      const session = await told(opened(state, client, params));
      return { sessionId: session.id, ...stateOf(session) };
    }),
  );
  app.onRequest(
    load,
    checked(async ({ params, client }) => {
      const session = await told(reopened(state, client, params));
      session.replay();
      return stateOf(session);
    }),
  );
  app.onRequest(
    resume,
    checked(async ({ params, client }) => stateOf(await told(reopened(state, client, params)))),
  );
  app.onRequest(
    list,
    checked(({ params }) => listed(state.program, params ?? {})),
  );
  app.onRequest(
    close,
    checked(async ({ params: { sessionId } }) => {
      const session = openSession(state, sessionId);
      state.sessions.delete(sessionId);
      await session.close();
      return {};
    }),
  );
  return app.onRequest(
    remove,
    checked(async ({ params: { sessionId } }) => {
      await removed(state, sessionId);
      return {};
    }),
  );
}

/** Adds the methods of an open session. */
function withTurns(app: AgentApp, state: State): AgentApp {
  const { prompt, cancel, setMode, setConfigOption } = methods.agent.session;
  app.onRequest(
    prompt,
    checked(({ params, signal }) => openSession(state, params.sessionId).prompt(params.prompt, signal)),
  );
  app.onNotification(cancel, ({ params }) => state.sessions.get(params?.sessionId)?.cancel());
  app.onRequest(
    setMode,
    checked(async ({ params: { sessionId, modeId } }) => {
      const { choices, send } = openSession(state, sessionId);
      await told(choices.set("mode", modeId));
      send({ sessionUpdate: "config_option_update", configOptions: choices.options() });
      return {};
    }),
  );
  return app.onRequest(
    setConfigOption,
    checked(async ({ params }) => {
      const { choices, send } = openSession(state, params.sessionId);
      await told(choices.set(params.configId, String(params.value)));
      if (params.configId === "mode")
        send({ sessionUpdate: "current_mode_update", currentModeId: choices.modes().currentModeId });
      return { configOptions: choices.options() };
    }),
  );
}

/** Throws a `RequestError` where no session with this id is open. */
function openSession({ program, sessions }: State, id: string): Session {
  const found = sessions.get(id);
  if (found) return found;
  if (program.placeOf(id) === undefined) throw unknownSession(id);
  throw notFound(id, `session ${id} is not open here: open it with session/load or session/resume`);
}

/** Closes a session and removes everything of it. Throws a `RequestError` where there is none. */
async function removed({ program, sessions }: State, id: string): Promise<void> {
  if (program.placeOf(id) === undefined) throw unknownSession(id);
  const session = sessions.get(id);
  sessions.delete(id);
  await session?.close();
  await told(program.remove(id));
}

function stateOf({ choices }: { choices: Choices }): LoadSessionResponse {
  return { modes: choices.modes(), configOptions: choices.options() };
}

/** Returns the capabilities. A client that can show a terminal gets a way to store a key in one. */
function greeting({ program, capabilities }: State): InitializeResponse {
  const description =
    "Stores a key with `sawtooth login` in a terminal, or takes one from the variables that the editor sets, such as ANTHROPIC_API_KEY";
  const inTerminal = { type: "terminal" as const, args: ["login"], name: "Store an API key", description };
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "sawtooth", title: "Sawtooth", version: program.version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    },
    authMethods: [
      { id: "key", name: "API key", description },
      ...(capabilities.auth?.terminal ? [{ id: "login", ...inTerminal }] : []),
    ],
  };
}

type Place = { cwd: string; additionalDirectories?: string[] | null; mcpServers?: McpServer[] | null };

async function opened(state: State, client: AgentContext, place: Place, resume?: string): Promise<Session> {
  const { program, sessions, capabilities } = state;
  const cwd = folderIn("cwd", place.cwd);
  const addDirs = (place.additionalDirectories ?? []).map((path) => folderIn("additionalDirectories", path));
  const forms = capabilities.elicitation?.form !== undefined && capabilities.elicitation.form !== null;
  let conversation: Conversation | undefined;
  conversation = await program.open({
    ...{ cwd, addDirs, servers: serversIn(place.mcpServers ?? []) },
    ...(resume === undefined ? {} : { resume }),
    ask: asking(() => conversation && { client, conversation, forms }),
  });
  const { run } = conversation;
  const known: Conversation = conversation;
  const audience: Audience = {
    compaction: capabilities.session?.compaction !== undefined && capabilities.session.compaction !== null,
    notices: capabilities.session?.notices !== undefined && capabilities.session.notices !== null,
  };
  const session = sessionOf({
    ...{ conversation: known, client, audience },
    choices: choicesIn(known, program.switching(known)),
    commands: (changed) => program.commands(known, changed),
    title: () => program.title(run.folder),
  });
  sessions.set(session.id, session);
  return session;
}

/** Returns a stored session, which may be open already. It works in the folder that it was begun in. */
async function reopened(
  state: State,
  client: AgentContext,
  place: Place & { sessionId: string },
): Promise<Session> {
  const { sessionId: id } = place;
  const works = state.program.placeOf(id);
  if (works === undefined) throw unknownSession(id);
  const asked = realpathSync(folderIn("cwd", place.cwd));
  // Where it is gone, opening the session says so.
  if (asked !== works && existsSync(works))
    throw RequestError.invalidParams(
      undefined,
      `session ${id} works in ${works}, not in ${place.cwd}: open it with its own folder as cwd`,
    );
  return state.sessions.get(id) ?? (await opened(state, client, place, id));
}

function unknownSession(id: string): RequestError {
  return notFound(id, `there is no session ${id}: session/list names those that are stored`);
}

/** The protocol's code for a resource that is not there. */
function notFound(sessionId: string, message: string): RequestError {
  return new RequestError(-32002, message, { sessionId });
}

/** Throws a `RequestError` for what is no absolute path of a folder. */
function folderIn(field: string, path: string): string {
  if (statSync(absolute(field, path), { throwIfNoEntry: false })?.isDirectory()) return path;
  throw RequestError.invalidParams(undefined, `${field} is ${path}: there is no such folder`);
}

function absolute(field: string, path: string): string {
  if (isAbsolute(path)) return path;
  throw RequestError.invalidParams(undefined, `${field} is ${path}: it must be an absolute path`);
}

/** Returns the client's servers as entries of settings. */
function serversIn(servers: readonly McpServer[]): Record<string, object> {
  return Object.fromEntries(servers.map((server) => [server.name, entryOf(server)]));
}

function entryOf(server: McpServer): object {
  if ("command" in server) {
    const { command, args = [], env = [] } = server;
    return { command, args, env: Object.fromEntries(env.map(({ name, value }) => [name, value])) };
  }
  const { type, url, headers = [] } = server;
  return { type, url, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
}

function listed(program: Program, { cwd, cursor }: { cwd?: string | null; cursor?: string | null }) {
  const from = cursor ? Number(cursor) : 0;
  if (!Number.isSafeInteger(from) || from < 0)
    throw RequestError.invalidParams(undefined, `${cursor} is no cursor of this list`);
  const { sessions, next } = program.list(cwd ? absolute("cwd", cwd) : undefined, from);
  return { sessions, ...(next === undefined ? {} : { nextCursor: String(next) }) };
}

/** Words errors that the user can fix as the protocol does; a bug stays one. */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = exitCodeOf(error);
    if (code === undefined) throw error;
    const { message } = error as Error;
    throw code === 4
      ? RequestError.authRequired(undefined, message)
      : RequestError.invalidParams(undefined, message);
  }
}
