/** The agent of a session: the parts that its loop works with. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { workspaceRoot } from "../../config/instructions.ts";
import { stackNamed } from "../../context/policies/stacks.ts";
import type { UserMessage } from "../../core/events.ts";
import { currentEngine } from "../../core/questions.ts";
import type { OpenSession } from "../../session/store.ts";
import { fileWatch } from "../../tools/editor/file-watch.ts";
import { readTaskList } from "../../tools/session/todo.ts";
import { limitsOf } from "../choices.ts";
import { passedBy, watchedBy } from "../hooks.ts";
import { instructionsReader } from "../instructions/nested.ts";
import { shortened } from "../messages/paste.ts";
import { readPrompt } from "../prompts.ts";
import type { OpenOptions, Run } from "../session.ts";
import type { AgentParts } from "./agent-parts.ts";

/** Puts the agent together. */
export function agentOf(session: OpenSession, parts: AgentParts): Run["agent"] {
  const { options, settings, models, tools, shell, fileSnapshots, hooks } = parts;
  const { person, driver } = options;
  const passed = async (messages: UserMessage[]): Promise<UserMessage[]> =>
    hooks ? passedBy(hooks, messages, session.log) : messages;
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
    limits: options.delegate?.limits ?? limitsOf(options, settings),
    ...(options.delegate ? { account: options.delegate.account, isDone: options.delegate.isDone } : {}),
    clock: Date.now,
    artifacts: session.artifacts,
    guard: parts.guard,
    beforeWrite: fileSnapshots.beforeWrite,
    permit: permitLater(session, parts),
    ...watchedBy(hooks, options.delegate !== undefined),
    takeSteering: async () => {
      const taken = (await (person ?? driver)?.takeSteering()) ?? [];
      return (await passed(taken)).map((message) => shortened(session, message));
    },
    takeNotices: () => [
      ...shell.takeNotices(),
      ...parts.skills.takeNotices(),
      ...(parts.servers?.takeNotices() ?? []),
      ...(hooks?.takeNotices().map(parts.redact) ?? []),
    ],
    ...seenBy(person ?? driver),
    onWaiting: person?.onWaiting,
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

/** Decides about calls by what is loaded with the first of them. */
function permitLater(session: OpenSession, parts: AgentParts): Run["agent"]["permit"] {
  let permit: Promise<Run["agent"]["permit"]> | undefined;
  return async (call, signal) => {
    permit ??= import("./permit.ts").then(({ permitOf }) => permitOf(session, parts));
    parts.servers?.writeFiles();
    return (await permit)(call, signal);
  };
}

/** The parts of the agent by which a person or a program follows what it does. */
function seenBy(
  one: OpenOptions["person"] | OpenOptions["driver"],
): Pick<Run["agent"], "onPart" | "onProgress"> {
  return {
    onPart: (part) => one?.onPart?.(part),
    onProgress: (toolUseId, text) => one?.onProgress?.(toolUseId, text),
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
