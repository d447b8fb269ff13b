/** A network namespace of its own under test, with loopback servers that stand for hosts outside. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Egress } from "../../src/core/network/egress.ts";
import type { Outside } from "../../src/network/dial.ts";
import { type SandboxFile, sandboxFiles } from "../../src/network/files.ts";
import type { HostAnswer, HostQuestion } from "../../src/network/gate.ts";
import { createNetwork, type Network } from "../../src/network/network.ts";
import { usualBudget } from "../../src/permissions/sandbox/budget.ts";
import { parseHostRule } from "../../src/permissions/sandbox/hosts.ts";

/** Undefined where bubblewrap works here, else why the tests are skipped. */
export function noBubblewrap(): string | undefined {
  const tried = spawnSync("bwrap", ["--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"]);
  return tried.status === 0 ? undefined : `bubblewrap does not start here: ${tried.stderr ?? tried.error}`;
}

/** A loopback server that knows how many bytes of its streams it received and sent. */
export type Counted = {
  port: number;
  connections(): number;
  received(): number;
  sent(): number;
  close(): void;
};

export async function counting(server: Server): Promise<Counted> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sum = (of: (socket: Socket) => number) => sockets.reduce((total, socket) => total + of(socket), 0);
  return {
    port: (server.address() as { port: number }).port,
    connections: () => sockets.length,
    received: () => sum(({ bytesRead }) => bytesRead),
    sent: () => sum(({ bytesWritten }) => bytesWritten),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export type Inside = {
  network: Network;
  /** Runs bash lines inside, one after the other; both outputs, and the exit code in a last line `[n]`. */
  run(script: string): Promise<string>;
  /** Takes the ledger; one text per entry: `allow ok.example:80 by <first word of the process>`. */
  ledger(): string[];
  entries(): Egress[];
  /** Names and the addresses they have outside; where connections to an address really go. */
  names: Map<string, string[]>;
  routes: Map<string, number>;
  dialled: string[];
  looked: string[];
  rules: string[];
  denied: string[];
  pid: number;
  exposed: boolean;
  answer: ((question: HostQuestion, signal: AbortSignal) => Promise<HostAnswer>) | undefined;
  close(): void;
};

/** Starts bubblewrap with a bash in it, and serves its network. */
export async function startInside({ askMs = 20_000 } = {}): Promise<Inside> {
  const inside = {
    ...{
      names: new Map(),
      routes: new Map(),
      dialled: [],
      looked: [],
      rules: [],
      denied: [],
      exposed: false,
    },
  } as unknown as Inside;
  inside.network = createNetwork({
    ...{ budget: usualBudget, now: Date.now, askMs },
    rules: () => [
      ...inside.denied.flatMap((rule) => parseHostRule(rule, "deny")),
      ...inside.rules.flatMap((rule) => parseHostRule(rule)),
    ],
    exposed: () => inside.exposed,
    ask: (question, signal) => inside.answer?.(question, signal) ?? Promise.resolve({ decision: "no" }),
    commandOf: (pid) => `pid ${pid}`,
    outside: outsideOf(inside),
  });
  const box = await startBubblewrap(sandboxFiles("box"));
  inside.pid = box.pid;
  await inside.network.serve(inside.pid);
  inside.entries = () => inside.network.take();
  inside.ledger = () =>
    inside
      .entries()
      .map(({ decision, reason, host, port, program = "?" }) =>
        [decision, `${host}:${port}`, ...(reason ? [reason] : []), `by ${program.split(" ")[0]}`].join(" "),
      );
  inside.run = box.run;
  inside.close = () => {
    box.close();
    inside.network.close();
  };
  return inside;
}

function outsideOf(inside: Inside): Outside {
  return {
    resolve(name) {
      inside.looked.push(name);
      return Promise.resolve(inside.names.get(name) ?? []);
    },
    connect(address, port) {
      inside.dialled.push(`${address}:${port}`);
      const to = inside.routes.get(`${address}:${port}`) ?? 1;
      return connect({ host: "127.0.0.1", port: to, allowHalfOpen: true });
    },
    ownAddresses: () => ["198.51.100.200"],
    proxyFor: () => undefined,
  };
}

/** A bubblewrap with a bash in it, which runs lines one after the other. */
export type TestBox = { pid: number; run(script: string): Promise<string>; close(): void };

/** `shared`: with the network of the machine instead of one of its own. */
export async function startBubblewrap(files: readonly SandboxFile[], shared = false): Promise<TestBox> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-network-"));
  const mounts = files.flatMap(({ path, text }, index) => {
    const file = join(folder, String(index));
    writeFileSync(file, text);
    return ["--ro-bind", file, path];
  });
  const child = spawn(
    "bwrap",
    [
      ...["--unshare-user", ...(shared ? [] : ["--unshare-net"]), "--unshare-pid", "--unshare-ipc"],
      "--disable-userns",
      ...[
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--ro-bind",
        "/",
        "/",
        "--tmpfs",
        "/tmp",
        "--dev",
        "/dev",
      ],
      ...["--proc", "/proc", ...mounts, "--info-fd", "3", "bash", "-s"],
    ],
    { stdio: ["pipe", "pipe", "ignore", "pipe"], env: { PATH: process.env.PATH, HOME: "/tmp" } },
  );
  return {
    pid: await pidOf(child),
    run: (script) => answered(child, script),
    close() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function pidOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`bubblewrap ended with ${code}`)));
    let told = "";
    child.stdio[3]?.on("data", (bytes) => {
      told += bytes;
      const [, pid] = /"child-pid": (\d+)[\s\S]*}/.exec(told) ?? [];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
}

let mark = 0;

function answered(child: ChildProcess, script: string): Promise<string> {
  const end = `end-${++mark}-end`;
  let text = "";
  return new Promise((resolve) => {
    const onData = (bytes: Buffer): void => {
      text += bytes.toString("utf8");
      const at = text.indexOf(`[${end} `);
      if (at < 0 || !text.slice(at).includes("]")) return;
      child.stdout?.off("data", onData);
      const code = /\d+/.exec(text.slice(at + end.length + 2))?.[0];
      resolve(`${text.slice(0, at)}[${code}]`);
    };
    child.stdout?.on("data", onData);
    child.stdin?.write(`( ulimit -t 20; ${script}\n) </dev/null 2>&1; printf '[${end} %d]' $?\n`);
  });
}
