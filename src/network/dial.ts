/**
 * Connects to hosts outside: a name is looked up once, and what is dialled is one of the addresses that were checked.
 */

import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import type { EgressReason } from "../core/network/egress.ts";
import { addressClass, isAddress } from "../permissions/sandbox/addresses.ts";
import { localName, machineName } from "../permissions/sandbox/hosts.ts";

/** The outside world of `dial`. */
export type Outside = {
  /** All addresses of a name, best first. Rejects when there are none. */
  resolve(name: string): Promise<string[]>;
  /** Begins a connection to an address. */
  connect(address: string, port: number): Socket;
  /** Addresses of this machine. */
  ownAddresses(): string[];
  /** The proxy through which a host is reached, by the environment of Sawtooth; undefined: directly. */
  proxyFor(host: string, port: number): OutsideProxy | undefined;
};

export type OutsideProxy = { host: string; port: number; authorization?: string };

/** An established connection, or why there is none. `detail`: for people. */
export type Dialled = { socket: Socket } | { reason: EgressReason; detail?: string };

export type Dial = (host: string, port: number, permits: PermitsAddress) => Promise<Dialled>;
/** Returns true when a rule names this very address and port, so that it may be private. */
export type PermitsAddress = (address: string) => boolean;

/** Milliseconds for one address. */
const connectMs = 10_000;
const mostAddresses = 4;

export function createDial(outside: Outside): Dial {
  return async (host, port, permits) => {
    if (host === machineName) return firstOf(outside, ["127.0.0.1"], port);
    const proxy = isAddress(host) || host === localName ? undefined : outside.proxyFor(host, port);
    if (proxy) return throughProxy(outside, proxy, host, port);
    const found = isAddress(host) ? [host] : await outside.resolve(host).catch(() => []);
    if (found.length === 0) return { reason: "unresolved" };
    const own = new Set(outside.ownAddresses());
    const fit = found.filter(
      (address) => permits(address) || (addressClass(address) === "public" && !own.has(address)),
    );
    if (fit.length === 0)
      return { reason: "inner_address", detail: found.slice(0, mostAddresses).join(", ") };
    return firstOf(outside, fit.slice(0, mostAddresses), port);
  };
}

async function firstOf(outside: Outside, addresses: readonly string[], port: number): Promise<Dialled> {
  let detail = "";
  for (const address of addresses) {
    const socket = outside.connect(address, port);
    const failure = await connected(socket);
    if (failure === undefined) return { socket };
    detail = failure;
    socket.destroy();
  }
  return { reason: "unreachable", detail };
}

/** Returns undefined once the socket is connected, else the error's text. */
function connected(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    socket.setTimeout(connectMs, () => resolve(`no answer in ${connectMs / 1000} s`));
    socket.once("error", (error) => resolve(error.message));
    socket.once("connect", () => {
      socket.setTimeout(0);
      resolve(undefined);
    });
  });
}

/** The proxy looks the name up, so the check of addresses is its own. */
async function throughProxy(
  outside: Outside,
  proxy: OutsideProxy,
  host: string,
  port: number,
): Promise<Dialled> {
  const socket = outside.connect(proxy.host, proxy.port);
  const failure = await connected(socket);
  if (failure !== undefined) {
    socket.destroy();
    return { reason: "unreachable", detail: `the proxy of this machine: ${failure}` };
  }
  const to = `${host}:${port}`;
  const credentials = proxy.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : "";
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${credentials}\r\n`);
  const status = await answerOf(socket);
  if (status === 200) return { socket };
  socket.destroy();
  return { reason: "unreachable", detail: `the proxy of this machine answered ${status}` };
}

/** Reads the head of the proxy's answer and returns its status; what follows stays in the socket. */
function answerOf(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let head = Buffer.alloc(0);
    const done = (status: number): void => {
      socket.off("data", onData).off("close", onClose);
      socket.setTimeout(0);
      socket.pause();
      resolve(status);
    };
    const onClose = (): void => done(0);
    const onData = (bytes: Buffer): void => {
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0 && head.length <= 16_384) return;
      done(Number(/^HTTP\/1\.[01] (\d{3})/.exec(head.toString("latin1", 0, end))?.[1] ?? 0));
      const rest = head.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
    };
    socket.setTimeout(connectMs, onClose);
    socket.on("data", onData).once("close", onClose);
  });
}

/** Returns the real outside world. `env`: Sawtooth's own environment, which may name a proxy. */
export function realOutside(env: Readonly<Record<string, string | undefined>>): Outside {
  return {
    resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
    connect: (address, port) => connect({ host: address, port }),
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
    proxyFor: (host, port) => proxyFor(env, host, port),
  };
}

/** Reads the usual variables. The person's own list of exemptions counts; what runs inside cannot change it. */
function proxyFor(
  env: Readonly<Record<string, string | undefined>>,
  host: string,
  port: number,
): OutsideProxy | undefined {
  const variable = (name: string) => env[name.toLowerCase()] || env[name.toUpperCase()] || undefined;
  const value = (port === 80 ? variable("http_proxy") : variable("https_proxy")) ?? variable("all_proxy");
  if (value === undefined || isExempt(variable("no_proxy") ?? "", host, port)) return undefined;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port: at, username, password } = new URL(url);
  if (protocol !== "http:") return undefined;
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(at) || 80,
    ...(username ? { authorization: `Basic ${Buffer.from(user).toString("base64")}` } : {}),
  };
}

function isExempt(list: string, host: string, port: number): boolean {
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, name = "", at] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      if (at !== undefined && Number(at) !== port) return false;
      const bare = name.replace(/^\*?\./, "");
      return name === "*" || host === bare || host.endsWith(`.${bare}`);
    });
}
