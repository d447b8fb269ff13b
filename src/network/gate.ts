/** Decides about a connection: by rules, by what the session has seen, or by the person, while the connection waits. */

import type { EgressReason } from "../core/network/egress.ts";
import type { HostRule } from "../core/sandbox.ts";
import { decideHost, hostPattern } from "../permissions/sandbox/hosts.ts";
import type { Owner } from "./attribution.ts";

/** A connection that waits for a decision. `command`: as in the ledger. */
export type Wanted = { host: string; port: number; owner?: Owner | undefined; command?: string | undefined };

export type Admission =
  | { allowed: true; rule: string; full: boolean; trusted?: true }
  | { allowed: false; reason: EgressReason; rule?: string };

/** A person's answer. `kept`: rules that allow the host were added by the one who asked. */
export type HostAnswer = { decision: "once" | "kept" | "no" };

/** A question to the person. `send`: the host is allowed, but the session has seen both of two things. */
export type HostQuestion = Wanted & { kind: "unknown" | "send"; pattern: string };

export type GateOptions = {
  /** The rules in force now. */
  rules(): readonly HostRule[];
  /**
   * True when the session has read private data and text from outside, so that sending needs a yes for each command.
   */
  exposed(): boolean;
  /** Asks the person; undefined where nobody is there. */
  ask?: ((question: HostQuestion, signal: AbortSignal) => Promise<HostAnswer>) | undefined;
  /** Milliseconds that a question stays open. */
  askMs?: number;
};

export type Gate = {
  admit(wanted: Wanted): Promise<Admission>;
  /** Closes the open questions with no. */
  close(): void;
};

const usualAskMs = 20_000;

export function createGate({ rules, exposed, ask, askMs = usualAskMs }: GateOptions): Gate {
  /** Questions that are open, by host and port: however many connections wait, there is one. */
  const open = new Map<string, Promise<HostAnswer>>();
  /** Hosts that were allowed for one command, or refused to one. */
  const answered = new Map<string, "once" | "no">();
  const closing = new AbortController();
  const asked = (question: HostQuestion): Promise<HostAnswer> => {
    const key = JSON.stringify([question.kind, question.host, question.port, question.command]);
    const before = answered.get(key);
    if (before !== undefined) return Promise.resolve({ decision: before });
    const pending = open.get(key);
    if (pending || !ask) return pending ?? Promise.resolve({ decision: "no" });
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(askMs)]);
    const answer = Promise.race([ask(question, signal), withdrawn(signal)])
      .catch((): HostAnswer => ({ decision: "no" }))
      .then((given) => {
        open.delete(key);
        if (given.decision !== "kept") answered.set(key, given.decision);
        return given;
      });
    open.set(key, answer);
    return answer;
  };
  return {
    close: () => closing.abort(),
    async admit(wanted) {
      const { host, port } = wanted;
      const decided = decideHost(rules(), host, port);
      if (decided.decision === "deny")
        return {
          allowed: false,
          reason: decided.reason,
          ...("rule" in decided ? { rule: decided.rule.text } : {}),
        };
      const pattern = hostPattern(host, port);
      if (decided.decision === "allow") {
        const { rule } = decided;
        const admitted = { allowed: true as const, rule: rule.text, full: rule.grant === "full" };
        if (rule.grant !== "full" || !exposed()) return admitted;
        const { decision } = await asked({ ...wanted, kind: "send", pattern });
        return decision === "no" ? { allowed: false, reason: "exposure", rule: rule.text } : admitted;
      }
      const { decision } = await asked({ ...wanted, kind: "unknown", pattern });
      if (decision === "no") return { allowed: false, reason: decided.reason };
      if (decision === "once") return { allowed: true, rule: "asked: once", full: false };
      const now = decideHost(rules(), host, port);
      return now.decision === "allow"
        ? { allowed: true, rule: now.rule.text, full: now.rule.grant === "full" }
        : { allowed: false, reason: "unknown" };
    },
  };
}

function withdrawn(signal: AbortSignal): Promise<HostAnswer> {
  return new Promise((resolve) => {
    const no = (): void => resolve({ decision: "no" });
    if (signal.aborted) return no();
    signal.addEventListener("abort", no, { once: true });
  });
}
