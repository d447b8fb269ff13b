/** The network of a sandbox: names and ports served inside, connections decided, dialled outside and counted. */

import type { ChildProcess } from "node:child_process";
import type { Socket as DatagramSocket } from "node:dgram";
import { Server, type Socket } from "node:net";
import type { Egress } from "../core/network/egress.ts";
import type { HostRule } from "../core/sandbox.ts";
import { isAddress } from "../permissions/sandbox/addresses.ts";
import type { EgressBudget } from "../permissions/sandbox/budget.ts";
import { decideHost, usualPorts } from "../permissions/sandbox/hosts.ts";
import { type Attribution, createAttribution, type Owner, realProcessFiles } from "./attribution.ts";
import { createDial, type Outside } from "./dial.ts";
import { type DoorJob, type DoorMessage, startDoor } from "./door.ts";
import { type Admission, createGate, type GateOptions } from "./gate.ts";
import { createLedger } from "./ledger.ts";
import { answerDns, createNames } from "./names.ts";
import { type HttpWay, httpServer, proxyPort } from "./proxy.ts";
import { type Passage, passage, type Source, type Target, tunnel } from "./tunnel.ts";

export type NetworkOptions = GateOptions & {
  rules(): readonly HostRule[];
  budget: EgressBudget;
  outside: Outside;
  /** The command that a process belongs to, as the ledger names it; undefined when unknown. */
  commandOf(pid: number): string | undefined;
  now(): number;
};

export type Network = {
  /**
   * Serves names and ports in the network of the process `pid`, which lives as long as the sandbox. Rejects when it
   * cannot listen there, with the reason.
   */
  serve(pid: number): Promise<void>;
  /** Listens where rules that were added since name ports. Rejects when it cannot; what listens already stays. */
  listenMore(): Promise<void>;
  /** Returns true for an `address:port` inside that this side listens at. */
  isOurs(place: string): boolean;
  /** Refuses the connections whose clients closed them while they waited for an answer. */
  refuseGone(): Promise<void>;
  /**
   * Connects to a host for Sawtooth itself, under the same rules and in the same ledger. `decided`: a decision that was
   * made before. The attempt and the connection end with the signal.
   */
  connect(target: Target, source: Source, signal: AbortSignal, decided?: Admission): Promise<Passage>;
  /** Takes what happened since the last call. */
  take(): Egress[];
  /** Begins the budgets of hosts anew. */
  newTurn(): void;
  /** Closes every connection and listener. */
  close(): void;
};

/** Connections that have not said yet what they are; beyond that the oldest one makes room. */
const mostIdle = 256;
/** Names without a connection that are told at once. */
const mostAsked = 20;

type State = {
  options: NetworkOptions;
  names: ReturnType<typeof createNames>;
  /** Names asked for since the ledger was taken, with the process that asked. */
  asked: Map<string, Owner | undefined>;
  attribution: Attribution | undefined;
  /** The process behind a connection: it stays the same for all its requests. */
  sources: WeakMap<Socket, Source>;
  closers: (() => void)[];
  /** The process in whose network this side listens, and the places there. */
  served: { pid: number; places: Set<string> } | undefined;
  idle: Set<Socket>;
  way: HttpWay;
};

export function createNetwork(options: NetworkOptions): Network {
  const gate = createGate(options);
  const ledger = createLedger(options.budget, options.now);
  const state: State = {
    ...{
      options,
      names: createNames(),
      asked: new Map(),
      attribution: undefined,
      sources: new WeakMap(),
      closers: [],
      served: undefined,
      idle: new Set(),
    },
    way: {
      ...{ gate, ledger, rules: options.rules, dial: createDial(options.outside) },
      source: (socket) => sourceOf(state, socket),
      meant: (socket) => meantBy(state, socket),
    },
  };
  return {
    serve: (pid) => serve(state, pid),
    listenMore: () => listenMore(state),
    isOurs: (place) => state.served?.places.has(place) === true,
    async refuseGone() {
      gate.look();
      // Behind those that wait for the question.
      await new Promise((resolve) => setImmediate(resolve));
    },
    connect: (target, source, signal, decided) => connectFrom(state, { target, source, signal, decided }),
    take() {
      const entries = ledger.take();
      return [...entries, ...askedOnly(state, entries)];
    },
    newTurn: () => ledger.newTurn(),
    close() {
      gate.close();
      for (const close of state.closers.splice(0)) close();
      for (const socket of state.idle) socket.destroy();
    },
  };
}

type Connecting = { target: Target; source: Source; signal: AbortSignal; decided: Admission | undefined };

async function connectFrom({ options, way }: State, { target, source, signal, decided }: Connecting) {
  const { outside } = options;
  const dial = createDial({
    ...outside,
    resolve: (name) => Promise.race([outside.resolve(name), aborted(signal)]),
    connect(address, port) {
      const socket = outside.connect(address, port);
      const end = (): void => void socket.destroy(new Error("given up"));
      if (signal.aborted) setImmediate(end);
      signal.addEventListener("abort", end, { once: true });
      return socket.once("close", () => signal.removeEventListener("abort", end));
    },
  });
  return passage({ ...way, dial }, target, { ...source, isGone: () => signal.aborted }, decided);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new Error("given up"));
    signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
  });
}

/**
 * Entries for names that were asked for and not allowed, where no connection followed: the name itself may say much.
 */
function askedOnly({ asked, options, way }: State, entries: readonly Egress[]): Egress[] {
  const told = new Set(entries.map(({ host }) => host));
  const rest = [...asked].filter(
    ([name]) =>
      !told.has(name) &&
      !way.gate.isAsking(name) &&
      usualPorts.every((port) => decideHost(options.rules(), name, port).decision !== "allow"),
  );
  asked.clear();
  return rest.map(([host, owner]) => ({
    ...{
      host,
      port: 0,
      decision: "deny",
      reason: "unknown",
      bytesUp: 0,
      bytesDown: 0,
      connections: 0,
      ms: 0,
    },
    ...facts(options, owner),
  }));
}

function facts(
  { commandOf }: NetworkOptions,
  owner: Owner | undefined,
): { command?: string; program?: string } {
  const command = owner && commandOf(owner.pid);
  return { ...(owner ? { program: owner.line } : {}), ...(command === undefined ? {} : { command }) };
}

function sourceOf({ attribution, options, sources }: State, socket: Socket): Source {
  const known = sources.get(socket);
  if (known) return known;
  const { remotePort = 0, localAddress = "", localPort = 0 } = socket;
  const peer = { remotePort, localAddress, localPort };
  const owner = attribution?.ownerOf(peer);
  const isGone = () => socket.destroyed || attribution?.isClosed(peer) === true;
  const source = { owner, command: owner && options.commandOf(owner.pid), isGone };
  sources.set(socket, source);
  return source;
}

/** The host that a connection was made to: a name by the address that stands for it, else the address. */
function meantBy({ names }: State, { localAddress = "", localPort = 0 }: Socket): Target | undefined {
  if (localPort === proxyPort && localAddress === "127.0.0.1") return undefined;
  return { host: names.nameOf(localAddress) ?? localAddress, port: localPort };
}

async function serve(state: State, pid: number): Promise<void> {
  // The sandbox before this one is gone.
  for (const close of state.closers.splice(0)) close();
  state.attribution = createAttribution(realProcessFiles(pid));
  const wanted = places(state);
  state.served = { pid, places: new Set(wanted) };
  await listenIn(state, pid, ["listen", ...wanted]);
}

async function listenMore(state: State): Promise<void> {
  const { served } = state;
  const more = served ? places(state).filter((place) => !served.places.has(place)) : [];
  if (!served || more.length === 0) return;
  for (const place of more) served.places.add(place);
  await listenIn(state, served.pid, ["more", ...more]);
}

async function listenIn(state: State, pid: number, job: DoorJob): Promise<void> {
  const door = startDoor(pid, job);
  state.closers.push(() => void door.kill("SIGKILL"));
  await handedOver(door, (message, handle) => {
    if (message.type === "names") serveNames(state, handle as DatagramSocket);
    if (message.type === "port") servePort(state, message.port, handle as Server);
  });
}

/**
 * Where to listen: usual ports on every address; those of rules only where their host is, so that programs inside can
 * have them.
 */
function places({ names, options }: State): string[] {
  const ports = options.rules().flatMap(({ kind, name, port }) => {
    if (kind === "deny" || port === undefined || usualPorts.includes(port)) return [];
    const address = name.startsWith("*") ? "0.0.0.0" : isAddress(name) ? name : names.addressOf(name);
    return address === undefined || address.includes(":") ? [] : [`${address}:${port}`];
  });
  const usual = usualPorts.map((port) => `0.0.0.0:${port}`);
  return [...new Set([...usual, ...ports, `127.0.0.1:${proxyPort}`])];
}

/** Waits until the door has handed over everything and ended. Rejects with what it said when it fails. */
function handedOver(
  door: ChildProcess,
  take: (message: DoorMessage, handle: unknown) => void,
): Promise<void> {
  let said = "";
  door.stderr?.on("data", (bytes: Buffer) => {
    said = (said + bytes.toString("utf8")).slice(-500);
  });
  return new Promise((resolve, reject) => {
    door.on("message", (message, handle) => {
      const told = message as DoorMessage;
      if (told.type === "failed") said += told.what;
      else take(told, handle);
    });
    door.once("error", (error) => reject(new Error(`the network of the sandbox: ${error.message}`)));
    door.once("close", (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`the network of the sandbox: ${said.trim() || `exit ${code}`}`)),
    );
  });
}

function serveNames(state: State, socket: DatagramSocket): void {
  state.closers.push(() => socket.close());
  socket.unref();
  socket.on("error", () => {});
  socket.on("message", (message, { address, port }) => {
    const answer = answerDns(message, state.names);
    if (!answer) return;
    const { name, reply } = answer;
    noteAsked(state, name, port);
    socket.send(reply, port, address);
  });
}

/** Only the first names of a command are told, so only they cost a look at its processes. */
function noteAsked({ asked, attribution }: State, name: string | undefined, port: number): void {
  if (name === undefined || asked.size >= mostAsked || asked.has(name)) return;
  asked.set(name, attribution?.senderOf(port));
}

function servePort(state: State, port: number, handed: Server): void {
  const http = port === 80 || port === proxyPort ? httpServer(state.way) : undefined;
  for (const said of ["request", "connect", "upgrade"])
    http?.on(said, ({ socket }: { socket: Socket }) => state.idle.delete(socket));
  const server = new Server({ allowHalfOpen: true }, (socket: Socket) => {
    const target = meantBy(state, socket);
    // The sandbox's own loopback: nothing of ours is there.
    if (target?.host.startsWith("127.")) return void socket.resetAndDestroy();
    makeRoom(state, socket);
    if (!http && target) void tunnel(state.way, socket, target, () => state.idle.delete(socket));
    // The parser costs memory, so it comes with the first byte.
    if (http) socket.once("readable", () => http.emit("connection", socket));
  });
  server.on("error", () => {});
  server.listen(handed);
  server.unref();
  state.closers.push(() => {
    server.close();
    handed.close();
    http?.closeAllConnections();
  });
}

/** Milliseconds until a connection has said what it is. */
const idleMs = 20_000;

/** A connection that says nothing holds no place that another one needs. */
function makeRoom({ idle }: State, socket: Socket): void {
  socket.unref();
  socket.on("error", () => socket.destroy());
  idle.add(socket);
  const timer = setTimeout(() => {
    if (idle.has(socket)) socket.destroy();
  }, idleMs).unref();
  socket.once("close", () => {
    clearTimeout(timer);
    idle.delete(socket);
  });
  const [oldest] = idle;
  if (idle.size > mostIdle) oldest?.resetAndDestroy();
}
