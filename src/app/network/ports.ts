/** The ports of a sandbox: those that rules publish on this machine, and new listeners, told once. */

import { listenerLook, networkTables } from "../../network/listeners.ts";
import type { Network } from "../../network/network.ts";
import { createWayIn } from "../../network/way-in.ts";
import { parseRule } from "../../permissions/parse-rule.ts";

type Parts = {
  network: Pick<Network, "listenMore" | "isOurs">;
  rules(): { allow: readonly string[] };
  warn(text: string): void;
};

export type Ports = {
  /** A sandbox has started, with this first process. Publishes the ports of rules. */
  served(pid: number): Promise<void>;
  /** Listens and publishes by the rules of now. Never rejects: what cannot be is told. */
  follow(): Promise<void>;
  /** Returns a note for each port that programs inside listen on since the last look. */
  look(): string[];
  /** Publishes a port. Rejects with why it cannot. */
  publish(port: number): Promise<void>;
  close(): void;
};

export function sandboxPorts({ network, rules, warn }: Parts): Ports {
  let pid: number | undefined;
  let look: () => number[] = () => [];
  const wayIn = createWayIn(() => pid);
  /** Ports of rules that were tried. */
  const tried = new Set<number>();
  const publishRules = async (): Promise<void> => {
    for (const port of portsOf(rules().allow).filter((one) => !tried.has(one))) {
      tried.add(port);
      await wayIn.open(port).catch((error: Error) => warn(error.message));
    }
  };
  return {
    async served(first) {
      pid = first;
      look = listenerLook(networkTables(first), network.isOurs);
      await publishRules();
    },
    async follow() {
      if (pid === undefined) return;
      await network.listenMore().catch((error: Error) => warn(error.message));
      await publishRules();
    },
    look: () => look().map((port) => listenerNote(port, wayIn.ports().includes(port))),
    publish: wayIn.open,
    close: wayIn.close,
  };
}

function portsOf(allow: readonly string[]): number[] {
  const ports = allow.map(parseRule).filter(({ tool }) => tool === "port");
  return [...new Set(ports.map(({ pattern }) => Number(pattern)))];
}

function listenerNote(port: number, published: boolean): string {
  return published
    ? `sandbox: a program listens on port ${port}, which is http://127.0.0.1:${port} outside of the sandbox too.`
    : `sandbox: a program listens on port ${port}, inside of the sandbox only. The person reaches it after /sandbox open ${port}, or with --allow 'port(${port})'.`;
}
