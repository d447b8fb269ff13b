/** The way of a sub-agent into `openRun`. Types only. */

import type { Account, Limits } from "../../agent/agent.ts";
import type { Delegated } from "../../core/events.ts";
import type { ToolContext, ToolOutput } from "../../core/ports.ts";
import type { WebSearch } from "../../core/request.ts";
import type { DelegateInput, DelegateReport } from "../../tools/session/delegate.ts";
import type { OpenedModel } from "../current-model.ts";
import type { standingRules } from "../rules.ts";
import type { Peers } from "../sandbox/looks.ts";

export type Standing = ReturnType<typeof standingRules>;

/** The sub-agents of a session, as the person starts them. */
export type PersonsDelegates = {
  /** Returns true when rules, and the role, let a sub-agent write. */
  mayWrite(role: string | undefined): boolean;
  /** Runs one to its end, also of a role that the model does not know of. */
  runForPerson(input: DelegateInput, context: ToolContext): Promise<ToolOutput>;
};

/** The parts that a sub-agent takes from the session that delegated. */
export type DelegateOptions = {
  /** Absolute folder of the sessions of sub-agents. */
  root: string;
  /** Id of the session that delegated. */
  parent: string;
  delegated: Delegated;
  standing: Standing;
  model: OpenedModel;
  /** The search of the session that delegated. */
  webSearch: WebSearch | undefined;
  limits: Limits;
  account: Account;
  /** It and the session that delegated work in the same folders. */
  peers: Peers;
  /** Takes its report, which ends it. */
  report(report: DelegateReport): void;
  /** Returns true once it has handed in its report. */
  isDone(): boolean;
};
