/** The session that delegates, as its sub-agents need it. Types only. */

import type { Settings } from "../../config/settings.ts";
import type { SessionSkills } from "../instructions/skills.ts";
import type { OpenOptions, OpenRun, Run } from "../session.ts";
import type { UncaughtWatch } from "../uncaught.ts";
import type { Standing } from "./options.ts";

/** The session that delegates. */
export type Delegating = {
  run: Pick<Run, "agent" | "sessionId" | "folder" | "mode" | "models" | "sandbox">;
  settings: Settings;
  skills: SessionSkills;
  options: OpenOptions;
  standing: Standing;
  uncaught: UncaughtWatch;
  openRun: OpenRun;
  /** Dollars of the calls that are on their way, by the id of the sub-agent. */
  held: Map<string, number>;
};
