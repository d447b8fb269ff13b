/** The agent of a session: the parts that its loop works with. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import type { Settings } from "../../config/settings.ts";
import { stackNamed } from "../../context/policies/stacks.ts";
import type { PermissionMode } from "../../core/decision.ts";
import type { UserMessage } from "../../core/events.ts";
import type { Tool } from "../../core/ports.ts";
import { currentEngine } from "../../core/questions.ts";
import { realTarget } from "../../disk/real-path.ts";
import { programsInGit, trackedFiles } from "../../git/configured-programs.ts";
import type { SessionServers } from "../../mcp/servers.ts";
import type { OpenSession } from "../../session/store.ts";
import { namesMatching, surveyFolder } from "../../tools/bash/look-ahead.ts";
import type { Shell } from "../../tools/bash/shell/shell.ts";
import { fileWatch } from "../../tools/editor/file-watch.ts";
import { readTaskList } from "../../tools/session/todo.ts";
import type { AgentSnapshots } from "../../undo/agent.ts";
import { limitsOf } from "../choices.ts";
import type { OpenedModels } from "../current-model.ts";
import { instructionsReader } from "../instructions/nested.ts";
import type { SessionSkills } from "../instructions/skills.ts";
import { permitChanged } from "../mcp/permit-changed.ts";
import { shellServers } from "../mcp/shell-calls.ts";
import { shortened, withNamedPictures } from "../messages/paste.ts";
import { type OpenQuestions, permitAsking, permitHeadless, refusing } from "../permissions.ts";
import { readPrompt } from "../prompts.ts";
import type { standingRules } from "../rules.ts";
import { notesOnLeaving } from "../sandbox/leaving.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import type { OpenOptions, Run } from "../session.ts";
import { picturesFolder, readableFolders, realHome, workspaceOf } from "./folders.ts";

type AgentParts = {
  skills: SessionSkills;
  cwd: string;
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

/** Puts the agent together. */
export function agentOf(session: OpenSession, parts: AgentParts): Run["agent"] {
  const { options, settings, models, tools, shell, fileSnapshots, standing, questions } = parts;
  const { person, driver, refuse } = options;
  const rules = rulesOf(session, parts);
  const named = { cwd: parts.cwd, pasted: picturesFolder(session.folder) };
  const pictured = async (message: UserMessage): Promise<UserMessage> =>
    // The output of a command names files as it likes.
    message.shell ? message : { ...message, content: await withNamedPictures(message.content, named) };
  return {
    log: session.log,
    get model() {
      return models.current().model;
    },
    get summaries() {
      return models.current().summaries;
    },
    tools,
    get policies() {
      return stackNamed(currentEngine(session.log.events()).context).policies;
    },
    limits: limitsOf(options, settings),
    clock: Date.now,
    artifacts: session.artifacts,
    guard: parts.guard,
    beforeWrite: fileSnapshots.beforeWrite,
    permit: permitChanged(
      refusing(
        person ? permitAsking(rules, person.ask, standing, questions) : permitHeadless(rules, driver?.settle),
        refuse && ((access) => refuse(access, session.folder)),
      ),
      parts.servers,
      person?.ask,
    ),
    takeSteering: async () => {
      const taken = (await (person ?? driver)?.takeSteering()) ?? [];
      const messages = taken.map((message) => shortened(session, message));
      return person ? Promise.all(messages.map(pictured)) : messages;
    },
    takeNotices: () => [
      ...shell.takeNotices(),
      ...parts.skills.takeNotices(),
      ...(parts.servers?.takeNotices() ?? []),
    ],
    ...seenBy(person),
    redact: parts.redact,
    hash: (body) => createHash("sha256").update(body).digest("hex"),
    changedFiles: fileWatch(),
    ...nestedInstructions(parts),
    readTasks: () => readTaskList(join(session.folder, "todo.md")),
    summaryPrompt: readPrompt("summary"),
    pathExists: existsSync,
    reminderWords: readPrompt("reminders"),
  };
}

/** Returns a function that gives the rules as they are at a call. */
function rulesOf(session: OpenSession, parts: AgentParts) {
  const { options, cwd, mode, shell, sandbox, fileSnapshots, standing } = parts;
  const { env, person } = options;
  const paths = folders(env);
  const own = readableFolders(session);
  const [workspace, home] = [workspaceOf(cwd, options), realHome(env)];
  return () => ({
    ...{ standing, programsInGit, tracked: trackedFiles, servers: shellServers(parts.servers) },
    leaving: notesOnLeaving(session, fileSnapshots, workspace),
    realPath: (path: string) => realTarget(sandbox.onMachine(path)),
    matches: namesMatching,
    survey: surveyFolder,
    mode: person?.mode() ?? mode,
    allow: standing.allow(),
    allowEverywhere: standing.allowEverywhere(),
    deny: standing.deny(),
    ...{ workspace, home },
    sandbox: sandbox.inForce(),
    temporary: sandbox.temporary(),
    readable: [...own, ...parts.skills.inUse().map(({ path }) => dirname(path))],
    protectedPaths: [paths.config, paths.state],
    cwd: shell.cwd(),
    settled: sandbox.settled,
  });
}

/** The parts of the agent by which a person follows what it does. */
function seenBy(person: OpenOptions["person"]): Pick<Run["agent"], "onPart" | "onProgress" | "onWaiting"> {
  return {
    onPart: (part) => person?.onPart(part),
    onProgress: (toolUseId, text) => person?.onProgress(toolUseId, text),
    onWaiting: person?.onWaiting,
  };
}

/** Reads the instructions of folders below the one that the agent works in, unless the flags say none. */
function nestedInstructions({ options, cwd, shell, sandbox }: AgentParts): Partial<Run["agent"]> {
  const { flags, env, warn } = options;
  if (flags.bare) return {};
  const { onMachine } = sandbox;
  const scope = { workspace: workspaceRoot(cwd), cwd, home: env.HOME ?? homedir(), onMachine, warn };
  return { instructionsFor: instructionsReader({ ...scope, shellFolder: () => shell.cwd() }) };
}
