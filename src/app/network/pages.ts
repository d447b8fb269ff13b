/** The connections of the tool `fetch`: under the rules of commands, and in the same ledger. */

import type { HostRule } from "../../core/sandbox.ts";
import type { Admission } from "../../network/gate.ts";
import type { Network } from "../../network/network.ts";
import { isAskedAbout } from "../../permissions/fetch.ts";
import { decideHost } from "../../permissions/sandbox/hosts.ts";
import type { ConnectForPage } from "../../tools/fetch/parts.ts";

type Parts = { network: Pick<Network, "connect">; exposed(): boolean; rules(): readonly HostRule[] };

/**
 * Returns the way of pages to the network. The call itself was permitted, so its first connection asks nobody, unless
 * the address is invented and the session has read both of two things; redirects are decided as connections of commands.
 */
export function connectForPages({ network, exposed, rules }: Parts): ConnectForPage {
  return ({ host, port, call, url, invented, confirmed }, signal) => {
    const line = `fetch ${url}`;
    const source = {
      owner: { pid: process.pid, line: line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line },
      command: call,
    };
    const decided = admission(rules(), { host, port, confirmed, sends: invented && exposed() });
    return network.connect({ host, port }, source, signal, decided);
  };
}

type Wanted = { host: string; port: number; confirmed: boolean; sends: boolean };

/** Returns the decision on a connection where there is nothing to ask; undefined leaves it to the gate. */
function admission(rules: readonly HostRule[], wanted: Wanted): Admission | undefined {
  const { host, port, confirmed, sends } = wanted;
  const decided = decideHost(rules, host, port);
  if (decided.decision === "ask" && !isAskedAbout(wanted)) return { allowed: false, reason: decided.reason };
  if (decided.decision === "ask" && confirmed) return { allowed: true, rule: "asked: once", full: false };
  if (decided.decision !== "allow" || (sends && !confirmed)) return undefined;
  const { rule, trusted } = decided;
  return { allowed: true, rule: rule.text, full: false, ...(trusted ? { trusted } : {}) };
}
