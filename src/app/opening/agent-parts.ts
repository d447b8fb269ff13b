/** The parts of a session that its agent is put together from. */

import type { Settings } from "../../config/settings.ts";
import type { PermissionMode } from "../../core/decision.ts";
import type { Tool } from "../../core/ports.ts";
import type { SessionHooks } from "../../hooks/session-hooks.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { Shell } from "../../tools/bash/shell/shell.ts";
import type { AgentSnapshots } from "../../undo/agent.ts";
import type { OpenedModels } from "../current-model.ts";
import type { SessionSkills } from "../instructions/skills.ts";
import type { OpenQuestions } from "../permissions.ts";
import type { standingRules } from "../rules.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import type { OpenOptions, Run } from "../session.ts";

/** `mode`: the one the session began in. `questions`: those that are open. */
export type AgentParts = {
  skills: SessionSkills;
  cwd: string;
  hooks: SessionHooks | undefined;
  models: OpenedModels;
  redact(text: string): string;
  tools: Tool[];
  options: OpenOptions;
  settings: Settings;
  mode: PermissionMode;
  shell: Shell;
  sandbox: SessionSandbox;
  fileSnapshots: AgentSnapshots;
  standing: ReturnType<typeof standingRules>;
  questions: OpenQuestions;
  servers: SessionServers | undefined;
  guard: Run["agent"]["guard"];
};
