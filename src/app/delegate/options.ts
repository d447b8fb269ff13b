/** The way of a sub-agent into `openRun`. Types only. */

import type { Account, Limits } from "../../agent/agent.ts";
import type { Delegated } from "../../core/events.ts";
import type { DelegateReport } from "../../tools/session/delegate.ts";
import type { OpenedModel } from "../current-model.ts";
import type { standingRules } from "../rules.ts";

export type Standing = ReturnType<typeof standingRules>;

/** The parts that a sub-agent takes from the session that delegated. */
export type DelegateOptions = {
  /** Absolute folder of the sessions of sub-agents. */
  root: string;
  /** Id of the session that delegated. */
  parent: string;
  delegated: Delegated;
  standing: Standing;
  model: OpenedModel;
  limits: Limits;
  account: Account;
  /** Takes its report, which ends it. */
  report(report: DelegateReport): void;
  /** Returns true once it has handed in its report. */
  isDone(): boolean;
};
