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

/**
 * A person's answer. `kept`: rules that allow the host were added by the one who asked. `plan`: the mode lets nobody be
 * asked.
 */
export type HostAnswer = { decision: "once" | "kept" | "no" | "plan" };

/** A question to the person. `send`: the host is allowed, but the session has seen both of two things. */
export type HostQuestion = Wanted & { kind: "unknown" | "send"; pattern: string };

export type GateOptions = {
  /** The rules in force now. */
  rules(): readonly HostRule[];
  /**
   * True when the session has read private data and text from outside, so that sending needs a yes for each command.
   */
  exposed(): boolean;
  /**
   * Asks the person; undefined where nobody is there. Calls `onShown` once the question can be read: other questions
   * may stand before it. The question is closed when the signal fires.
   */
  ask?:
    | ((question: HostQuestion, signal: AbortSignal, onShown: () => void) => Promise<HostAnswer>)
    | undefined;
  /** Milliseconds that a question stays open from when it is shown. */
  askMs?: number;
  /** Milliseconds between two looks at the connections that wait. */
  lookMs?: number;
};

export type Gate = {
  /** True when somebody is there to be asked. */
  hasPerson: boolean;
  /**
   * Decides about a connection. `isGone`: true once its client has closed it. A question closes with the last
   * connection that waits for it.
   */
  admit(wanted: Wanted, isGone?: () => boolean): Promise<Admission>;
  /** Closes the questions that no connection waits for any more, without waiting for the next look. */
  look(): void;
  /** True while a question about the host is open. */
  isAsking(host: string): boolean;
  /** Closes the open questions. */
  close(): void;
};

/** Milliseconds that a question stays open. */
export const usualAskMs = 20_000;
/** Milliseconds between two looks. */
const usualLookMs = 500;

/** The end of a question: the person's answer, no answer in time, or nothing left to answer for. */
type Outcome = HostAnswer["decision"] | "unanswered" | "withdrawn";

type OpenQuestion = {
  question: HostQuestion;
  outcome: Promise<Outcome>;
  end(outcome: Outcome): void;
  /** The connections that wait, each by whether it is gone. */
  waiting: (() => boolean)[];
};

export function createGate(options: GateOptions): Gate {
  const { rules, exposed } = options;
  const { asked, ...questions } = createQuestions(options);
  return {
    ...questions,
    hasPerson: options.ask !== undefined,
    async admit(wanted, isGone = () => false) {
      const { host, port } = wanted;
      const decided = decideHost(rules(), host, port);
      if (decided.decision === "deny")
        return {
          allowed: false,
          reason: decided.reason,
          ...("rule" in decided ? { rule: decided.rule.text } : {}),
        };
      const pattern = hostPattern(host, port);
      const outcomeOf = async (kind: HostQuestion["kind"]): Promise<Outcome> => {
        const outcome = await asked({ ...wanted, kind, pattern }, isGone);
        const isYes = outcome === "once" || outcome === "kept";
        return isYes && isGone() ? "withdrawn" : outcome;
      };
      if (decided.decision === "allow") {
        const { rule, decision, ...marks } = decided;
        const admitted = { allowed: true as const, rule: rule.text, full: rule.grant === "full", ...marks };
        if (rule.grant !== "full" || !exposed()) return admitted;
        const reason = refusal(await outcomeOf("send"), "exposure");
        return reason ? { allowed: false, reason, rule: rule.text } : admitted;
      }
      const outcome = await outcomeOf("unknown");
      const reason = refusal(outcome, decided.reason);
      if (reason) return { allowed: false, reason };
      if (outcome === "once") return { allowed: true, rule: "asked: once", full: false };
      const now = decideHost(rules(), host, port);
      return now.decision === "allow"
        ? { allowed: true, rule: now.rule.text, full: now.rule.grant === "full" }
        : { allowed: false, reason: "unknown" };
    },
  };
}

type Questions = Omit<Gate, "admit" | "hasPerson"> & {
  asked(question: HostQuestion, isGone: () => boolean): Promise<Outcome>;
};

function createQuestions({ ask, ...options }: GateOptions): Questions {
  /** However many connections of a command wait for a host and port, there is one question. */
  const open = new Map<string, OpenQuestion>();
  /** Hosts that were allowed for one command, or refused to one. */
  const answered = new Map<string, Outcome>();
  return {
    look() {
      for (const one of open.values()) lookAt(one, options.rules());
    },
    isAsking: (host) => [...open.values()].some(({ question }) => question.host === host),
    close() {
      for (const { end } of open.values()) end("withdrawn");
    },
    asked(question, isGone) {
      const { kind, host, port, command, owner } = question;
      // A process that belongs to no command stands for itself.
      const asker = command ?? owner?.pid;
      const key = JSON.stringify([kind, host, port, asker]);
      const before = answered.get(key);
      if (before !== undefined || !ask) return Promise.resolve(before ?? "no");
      const pending = open.get(key);
      if (pending) {
        pending.waiting.push(isGone);
        return pending.outcome;
      }
      const opened = openQuestion(question, isGone, { ...options, ask });
      open.set(key, opened);
      return opened.outcome.then((outcome) => {
        open.delete(key);
        // A rule is what remembers `kept`; a question that was withdrawn may never have been seen.
        if (asker !== undefined && outcome !== "kept" && outcome !== "withdrawn") answered.set(key, outcome);
        return outcome;
      });
    },
  };
}

/** Asks the person. The time that is left for an answer begins when the question is shown. */
function openQuestion(
  question: HostQuestion,
  isGone: () => boolean,
  { ask, rules, askMs = usualAskMs, lookMs = usualLookMs }: GateOptions & Required<Pick<GateOptions, "ask">>,
): OpenQuestion {
  const closing = new AbortController();
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  let limit: NodeJS.Timeout | undefined;
  const end = (given: Outcome): void => {
    clearInterval(looking);
    clearTimeout(limit);
    // Before the signal: whoever asks answers it with no.
    resolve(given);
    closing.abort();
  };
  const opened: OpenQuestion = { question, outcome, end, waiting: [isGone] };
  const looking = setInterval(() => lookAt(opened, rules()), lookMs).unref();
  const onShown = (): void => {
    if (!closing.signal.aborted) limit ??= setTimeout(() => end("unanswered"), askMs).unref();
  };
  ask?.(question, closing.signal, onShown).then(
    ({ decision }) => end(decision),
    () => end("no"),
  );
  return opened;
}

/** Closes a question that nothing waits for, and one that a rule answers by now. */
function lookAt({ question, waiting, end }: OpenQuestion, rules: readonly HostRule[]): void {
  // The first that is still there keeps it open: the others need no look.
  while (waiting[0]?.()) waiting.shift();
  if (waiting.length === 0) end("withdrawn");
  else if (question.kind === "unknown" && decideHost(rules, question.host, question.port).decision !== "ask")
    end("kept");
}

/** Returns why a connection is refused after its question; undefined when it is not. `no`: what a no means. */
function refusal(outcome: Outcome, no: EgressReason): EgressReason | undefined {
  if (outcome === "no") return no;
  return outcome === "once" || outcome === "kept" ? undefined : outcome;
}
