/** Carries one connection from the sandbox to the host that it meant, after its first bytes were looked at. */

import type { Socket } from "node:net";
import { Duplex, pipeline } from "node:stream";
import type { EgressReason } from "../core/network/egress.ts";
import type { HostRule } from "../core/sandbox.ts";
import { addressClass, isAddress } from "../permissions/sandbox/addresses.ts";
import { decideHost, localName } from "../permissions/sandbox/hosts.ts";
import type { Owner } from "./attribution.ts";
import type { Dial } from "./dial.ts";
import type { Admission, Gate } from "./gate.ts";
import { type Greeting, readClientHello, readSshBanner } from "./greeting.ts";
import type { Ledger, Line, Meter } from "./ledger.ts";

/** Everything that a connection meets on its way out. */
export type Way = {
  gate: Gate;
  dial: Dial;
  ledger: Ledger;
  rules(): readonly HostRule[];
  /** The process behind a connection and the command it belongs to. */
  source(socket: Socket): Source;
};

/** `isGone`: true once the process has closed the connection. */
export type Source = { owner?: Owner | undefined; command?: string | undefined; isGone?: () => boolean };
export type Target = { host: string; port: number };

/** A connection that may go on, or the reason why not; the ledger has it either way. */
export type Passage = { upstream: Duplex; meter: Meter } | { refused: EgressReason };

/** Decides, dials, and opens the line of the ledger. */
export async function passage(
  way: Way,
  { host, port }: Target,
  source: Source,
  /** The decision where it was made before; by default the gate decides. */
  decided?: Admission,
): Promise<Passage> {
  const { owner, command } = source;
  const facts = {
    ...{ host, port },
    ...(command === undefined ? {} : { command }),
    ...(owner ? { program: owner.line } : {}),
  };
  const admission = decided ?? (await way.gate.admit({ host, port, owner, command }, source.isGone));
  if (!admission.allowed) {
    const { reason, rule } = admission;
    way.ledger.refuse({ ...facts, decision: "deny", reason, ...(rule === undefined ? {} : { rule }) });
    return { refused: reason };
  }
  const dialled = await way.dial(host, port, (address) => permits(way.rules(), { host, port }, address));
  const { rule, trusted } = admission;
  const line: Line = { ...facts, decision: "allow", rule, ...(trusted ? { trusted } : {}) };
  if ("reason" in dialled) {
    way.ledger.refuse({ ...line, decision: "deny", reason: dialled.reason });
    return { refused: dialled.reason };
  }
  const meter = way.ledger.open(line, !admission.full);
  return { upstream: metered(dialled.socket, meter), meter };
}

/** Returns true when a rule names this very address, or `localhost` and the address is its own. */
function permits(rules: readonly HostRule[], { host, port }: Target, address: string): boolean {
  const named = host === localName && addressClass(address) === "loopback" ? host : address;
  const decided = decideHost(rules, named, port);
  return decided.decision === "allow" && decided.rule.name === named;
}

/** Notes a connection that was refused before anything was decided. */
export function refuse(
  way: Way,
  { host, port }: Target,
  { owner, command }: Source,
  reason: EgressReason,
): void {
  way.ledger.refuse({
    ...{ host, port, decision: "deny", reason },
    ...(command === undefined ? {} : { command }),
    ...(owner ? { program: owner.line } : {}),
  });
}

/** A socket whose bytes are counted. Bytes beyond the budget are not sent: the connection is cut. */
function metered(socket: Socket, meter: Meter): Duplex {
  const counted = new Duplex({
    allowHalfOpen: true,
    write(chunk: Buffer, _encoding, done) {
      if (meter.up(chunk.length)) return void socket.write(chunk, done);
      meter.end("budget");
      done(new Error("over the budget of this host"));
    },
    final: (done) => void socket.end(done),
    read: () => void socket.resume(),
    destroy(error, done) {
      meter.end();
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (bytes: Buffer) => {
    meter.down(bytes.length);
    if (!counted.push(bytes)) socket.pause();
  });
  socket.on("end", () => counted.push(null));
  socket.on("error", (error) => counted.destroy(error));
  socket.on("close", () => counted.destroy());
  // Whoever uses it hears of errors by its end.
  counted.on("error", () => {});
  return counted;
}

/** Takes an accepted connection that is not HTTP to its host. */
export async function tunnel(
  way: Way,
  socket: Socket,
  target: Target,
  /** Called once the first bytes have told what it is. */
  greeted: () => void = () => {},
): Promise<void> {
  socket.on("error", () => socket.destroy());
  const { host, port } = target;
  const first = await greeting(socket, port);
  if (first === undefined) return void socket.destroy();
  greeted();
  const source = way.source(socket);
  const wrong = greetingProblem(first.read, target);
  if (wrong) {
    refuse(way, target, source, wrong);
    return endRefused(socket, first.tls);
  }
  const passed = await passage(way, { host, port }, source);
  if ("refused" in passed) return endRefused(socket, first.tls);
  join(socket, passed.upstream);
}

/** Joins both ends; each is closed with the other. */
export function join(socket: Duplex, upstream: Duplex): void {
  if (socket.destroyed) return void upstream.destroy();
  pipeline(socket, upstream, socket, () => {
    socket.destroy();
    upstream.destroy();
  });
}

/** Tells a client of TLS that access was denied, so that it does not report a fault of the line. */
function endRefused(socket: Socket, tls: boolean): void {
  if (!tls) return void socket.resetAndDestroy();
  const accessDenied = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x31]);
  socket.end(accessDenied, () => socket.destroySoon());
  socket.resume();
}

function greetingProblem(read: Greeting, { host, port }: Target): EgressReason | undefined {
  const checked = port === 443 || port === 22;
  if (read.type !== "greeting") return checked ? "protocol" : undefined;
  if (port === 22 || isAddress(host)) return undefined;
  if (read.name === undefined) return port === 443 ? "other_name" : undefined;
  return read.name === host ? undefined : "other_name";
}

type First = { read: Greeting; tls: boolean };

/** Waits for the first bytes, which stay in the socket; undefined when the connection ends before they tell. */
function greeting(socket: Socket, port: number): Promise<First | undefined> {
  // Behind other ports a server may speak first.
  if (port !== 443 && port !== 22) return Promise.resolve({ read: { type: "other" }, tls: false });
  const read = port === 22 ? readSshBanner : readClientHello;
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const done = (first: First | undefined): void => {
      socket.off("data", onData).off("close", onEnd).off("end", onEnd);
      socket.setTimeout(0);
      socket.pause();
      if (bytes.length > 0 && !socket.destroyed) socket.unshift(bytes);
      resolve(first);
    };
    const onEnd = (): void => done(undefined);
    const onData = (more: Buffer): void => {
      bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
      const found = read(bytes);
      if (found.type !== "more") done({ read: found, tls: port === 443 && found.type === "greeting" });
    };
    socket.on("data", onData).once("close", onEnd).once("end", onEnd);
  });
}
