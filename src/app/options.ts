/** The options of opening a session. Types only. */

import type { PermissionMode } from "../core/decision.ts";
import type { SandboxChoice } from "../core/sandbox.ts";

/** A field is undefined where a setting, the stored session or a default decides. */
export type SessionOptions = {
  /** `provider/id`. */
  model?: string;
  effort?: string;
  /** Maximum model calls over the whole session. */
  maxTurns?: number;
  maxBudgetUsd?: number;
  maxTimeMs?: number;
  permissionMode?: PermissionMode;
  sandbox?: SandboxChoice;
  /** Rules of the command line. */
  allow: string[];
  deny: string[];
  /** Additional folders to work in. */
  addDirs: string[];
  /** Name of the policy stack. */
  context?: string;
  /** Soft window in tokens. */
  window?: number;
  /** Opens the newest session of the folder instead of a new one. */
  continueNewest: boolean;
  /** The session to open: its id, a prefix of it, or its name. */
  resume?: string;
  /** Branches off the stored session. */
  fork: boolean;
  /** Leaves out user settings and project instructions. */
  bare: boolean;
  /** Folder of all sessions. */
  sessionDir?: string;
  appendSystemPrompt?: string;
  /** File that records every model exchange. */
  record?: string;
  /** Plays a cassette by order instead of by request. */
  loose: boolean;
};
