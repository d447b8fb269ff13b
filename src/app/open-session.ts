/** Puts the parts together: a session, its shell and tools, a model, and the agent over them. */

import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { workspaceRedactor } from "../config/env-files.ts";
import { folders } from "../config/folders.ts";
import { workspaceRoot } from "../config/instructions.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import type { Skill } from "../config/skills.ts";
import { pasteLimit } from "../context/policies/budget.ts";
import { stackNamed } from "../context/policies/stacks.ts";
import type { PermissionMode } from "../core/decision.ts";
import { UsageError } from "../core/errors.ts";
import type { UserMessage } from "../core/events.ts";
import type { Model, Tool } from "../core/ports.ts";
import { currentEngine, currentModel, started } from "../core/questions.ts";
import { showHidden } from "../core/text/hidden-characters.ts";
import { credentialsFolder, storedSecrets } from "../credentials/keys.ts";
import { realTarget } from "../disk/real-path.ts";
import { programsInGit, trackedFiles } from "../git/configured-programs.ts";
import type { SessionServers } from "../mcp/servers.ts";
import { ancestorFolders } from "../session/listing.ts";
import { createSession, type Fork, forkSession, type OpenSession, openSession } from "../session/store.ts";
import { namesMatching, surveyFolder } from "../tools/bash/look-ahead.ts";
import { createShell, type Shell } from "../tools/bash/shell/shell.ts";
import { fileWatch } from "../tools/editor/file-watch.ts";
import { readTaskList } from "../tools/session/todo.ts";
import { type AgentSnapshots, agentSnapshots } from "../undo/agent.ts";
import { branchSnapshots } from "../undo/journal.ts";
import { parserFor } from "./bash-grammar.ts";
import { checkChoices, limitsOf, warnUnpriced } from "./choices.ts";
import { type OpenedModel, type OpenedModels, openedModels } from "./current-model.ts";
import { preambleOf } from "./instructions/first-message.ts";
import { instructionsReader } from "./instructions/nested.ts";
import { personSkills, skillsText } from "./instructions/skills.ts";
import { configuredServers } from "./mcp/session-servers.ts";
import { chooseModel, storedModel, summaryModels } from "./models.ts";
import { fetchParts, offersPages } from "./network/fetch-parts.ts";
import type { SessionOptions } from "./options.ts";
import { watchMachine } from "./orphans.ts";
import { offloadPastes } from "./paste.ts";
import { type OpenQuestions, permitAsking, permitHeadless, refusing } from "./permissions.ts";
import { readPrompt } from "./prompts.ts";
import { standingRules } from "./rules.ts";
import { commandSandbox } from "./sandbox/command-sandbox.ts";
import { notesOnLeaving } from "./sandbox/leaving.ts";
import { sandboxWithNetwork } from "./sandbox/sandbox-with-network.ts";
import type { SessionSandbox } from "./sandbox/session-sandbox.ts";
import type { OpenOptions, Run } from "./session.ts";
import { begin } from "./start-log.ts";
import { withStoredKeys } from "./stored-keys.ts";
import { sessionTools } from "./tools.ts";
import { watchUncaught } from "./uncaught.ts";

/** Opens a session ready to run: a new one, or the stored one that the flags name. */
export async function openRun(options: OpenOptions): Promise<Run> {
  const paths = folders(options.env);
  const settings = options.flags.bare ? {} : readSettings(join(paths.config, "settings.json"));
  checkChoices(options.flags, settings);
  const root = sessionRoot(options);
  const session =
    openStored(options, root) ?? createSession({ root, ...outside(options), cwd: realpathSync(options.cwd) });
  try {
    return await runOver(session, options, settings);
  } catch (error) {
    session.close();
    throw error;
  }
}

/** Returns the folder that holds all sessions. */
export function sessionRoot({ flags, env, cwd }: Pick<OpenOptions, "flags" | "env" | "cwd">): string {
  return flags.sessionDir ? resolve(cwd, flags.sessionDir) : join(folders(env).state, "sessions");
}

function outside({ warn }: OpenOptions) {
  return { clock: Date.now, warn };
}

function openStored(options: OpenOptions, root: string): OpenSession | undefined {
  const { continueNewest, resume, fork } = options.flags;
  if (!continueNewest && resume === undefined) {
    if (fork) throw new UsageError("--fork needs the session to branch from: add -c or -r <id>");
    return undefined;
  }
  if (resume === "")
    throw new UsageError(
      "-r needs the id or name of a session (see sawtooth sessions list); -c continues the newest",
    );
  const cwd = realpathSync(options.cwd);
  const which = { root, cwd, ...(resume ? { id: resume } : { newest: true }), ...outside(options) };
  if (!fork) return openSession(which);
  const copyState = (copy: Fork) => branchSnapshots({ ...copy, warn: options.warn });
  return forkSession({ ...which, events: options.events, copyState });
}

async function runOver(session: OpenSession, options: OpenOptions, settings: Settings): Promise<Run> {
  const { flags, env } = options;
  const cwd = folderOf(session, options);
  const signIns = storedSecrets(credentialsFolder(folders(env).state));
  const redact = workspaceRedactor(env, workspaceOf(cwd, options), signIns);
  // A server that is asked for its window answers while the rules are read.
  const choosing = firstModel(session, options, settings, redact);
  choosing.catch(() => undefined);
  const mode: PermissionMode = flags.permissionMode ?? settings.permissionMode ?? "ask";
  const standing = standingRules({
    ...{ flags, settings, env, config: folders(env).config, root: workspaceRoot(cwd) },
    ...{ session: options.person?.allowed ?? [], warn: options.warn },
  });
  const first = await choosing;
  const skills = personSkills(options, realHome(env), options.person ? undefined : options.warn);
  const { sandbox, network, shell, tools, walls, servers } = await workplaceOf(session, options, {
    ...{ cwd, settings, mode, standing, redact, skills },
  });
  if (sandbox.choice === "on") await sandbox.status();
  begin(session, { flags, settings, cwd, model: first.model, tools });
  const fileSnapshots = agentSnapshots({
    ...{ ...session, parser: parserFor, ...outside(options) },
    ...{ workspace: workspaceOf(cwd, options), except: [sessionRoot(options)] },
  });
  const questions: OpenQuestions = new Set();
  const models = openedModels(session.log, first);
  const killAll = () => [shell.killAll(), servers?.kill()];
  process.on("exit", killAll);
  const uncaught = watchUncaught((error) => crash(session, options, error));
  const machine = { root: sessionRoot(options), warn: options.warn, reportOrphans: !options.person };
  const reportRest = watchMachine(session.log, shell, machine);
  return {
    sessionId: session.id,
    folder: session.folder,
    mode,
    snapshots: fileSnapshots.snapshots,
    rules: standing,
    models,
    sandbox: { ...sandbox, ...walls },
    judgeAgain() {
      for (const again of [...questions]) again();
    },
    jobs: { list: shell.jobs, stop: shell.stopJob, keep: shell.keepJob },
    agent: agentOf(session, {
      ...{ options, settings, cwd, models, redact, tools, skills },
      ...{ mode, shell, sandbox, fileSnapshots, standing, questions, servers, guard: uncaught.guard },
    }),
    say: (content, shell) =>
      say(session, options, { content, ...(shell ? { shell } : {}) }, { servers, skills }),
    async close() {
      process.off("exit", killAll);
      reportRest();
      network.close();
      await Promise.all([shell.close(), servers?.close()]);
      await fileSnapshots.snapshots.close();
      session.close();
      uncaught.close();
    },
  };
}

type Chosen = {
  cwd: string;
  settings: Settings;
  mode: PermissionMode;
  standing: ReturnType<typeof standingRules>;
  redact(text: string): string;
  skills: readonly Skill[];
};

/** Creates what commands run in: the sandbox, its network, the shell, and the tools over them. Nothing starts yet. */
async function workplaceOf(session: OpenSession, options: OpenOptions, chosen: Chosen) {
  const { env } = options;
  const { cwd, settings, mode, standing, redact, skills } = chosen;
  const { sandbox, network } = sandboxWithNetwork({
    ...{ log: session.log, options, settings, standing, workspace: workspaceOf(cwd, options) },
    ...{ home: realHome(env), own: { ...folders(env), sessions: sessionRoot(options) } },
    // A new session has no ancestors, and no first event yet.
    folders: () => (session.log.events().length === 0 ? [session.folder] : readableFolders(session)),
    mode: () => options.person?.mode() ?? mode,
    jobs: () => shell.jobs(),
    onFound: () => shell.warm(),
  });
  const { id: sessionId, folder, log } = session;
  const inside = createShell({ cwd, env, sessionId, stateFolder: folder, sandbox: sandbox.forShell });
  const { shell, commands, ...walls } = commandSandbox({
    ...{ shell: inside, log, sessionId, folder, env, sandbox },
    ...{ workspace: workspaceOf(cwd, options), home: realHome(env) },
  });
  const { onMachine } = sandbox;
  const servers = await configuredServers({
    session,
    options,
    settings,
    sandbox,
    workspace: workspaceRoot(cwd),
  });
  const tools = sessionTools({
    ...{ folder, workspace: workspaceRoot(cwd), shell, settings, onMachine, servers },
    watched: network.watched,
    instructions: skills.map(({ path }) => path),
    commands: sandbox.choice === "off" ? undefined : commands,
    fetching: offersPages(session, standing) ? fetchParts({ log, network, redact }) : undefined,
  });
  return { sandbox, network, shell, tools: options.withoutTools ? [] : tools, walls, servers };
}

/** A bug outside of the tools ends the program, with the log intact and the shell's processes ended. */
function crash(session: OpenSession, { crashed }: OpenOptions, error: unknown): void {
  try {
    const detail = error instanceof Error ? error.message : String(error);
    session.log.append({ type: "turn_ended", reason: "error", detail });
    session.close();
  } finally {
    try {
      crashed(error, session.log.events());
    } finally {
      process.exit(1);
    }
  }
}

/** The model that the session begins with. Throws `UsageError` and `StartError`. */
async function firstModel(
  session: OpenSession,
  options: OpenOptions,
  settings: Settings,
  redact: Run["agent"]["redact"],
): Promise<OpenedModel> {
  const { wrapModel = (model) => model } = options;
  const choice = modelChoice(session, options, settings);
  const model = wrapModel(await chooseModel(choice), redact);
  checkPriced(options.flags, model);
  warnUnpriced(options, settings, model);
  return { model, summaries: summaryModels(model.card, settings.summaryModel, choice) };
}

/** Appends a user message; the session's first one carries the facts about the folder. */
function say(
  session: OpenSession,
  options: OpenOptions,
  message: UserMessage,
  { servers, skills }: { servers: SessionServers | undefined; skills: readonly Skill[] },
): void {
  const events = session.log.events();
  const { cwd, context } = started(events);
  const first = !events.some((event) => event.type === "user_message");
  const lists = () => ({ servers: servers?.firstLines(), skills: skillsText(skills, events) });
  const preamble = first ? preambleOf(cwd, options, context, lists()) : {};
  session.log.append({ type: "user_message", ...shortened(session, message), ...preamble });
}

/** Throws `UsageError` when a budget is set that could not be counted. */
export function checkPriced({ maxBudgetUsd }: SessionOptions, { card }: Model): void {
  if (maxBudgetUsd === undefined || card.prices.output !== 0) return;
  throw new UsageError(
    `--max-budget-usd needs prices, and none are known for ${card.id}: add them in settings`,
  );
}

/** Returns the folder of a session: for a stored one the original, for a new one the current folder. */
function folderOf(session: OpenSession, options: OpenOptions): string {
  const first = session.log.events()[0];
  const cwd = first?.type === "session_started" ? first.cwd : realpathSync(options.cwd);
  if (!existsSync(cwd)) throw new UsageError(`the session's folder no longer exists: ${cwd}`);
  return cwd;
}

function modelChoice(session: OpenSession, options: OpenOptions, settings: Settings) {
  const { flags, cwd, warn } = options;
  const env = withStoredKeys(options);
  const events = session.log.events();
  const current = events.length > 0 ? currentModel(events).model.id : undefined;
  const startAt = events.filter((event) => event.type === "assistant_message").length;
  const name = flags.model ?? current ?? settings.model;
  const facts = { startAt, stored: storedModel(events), overrides: settings.models, own: settings.providers };
  return { name, flags, env, cwd, warn, ...facts };
}

type AgentParts = {
  skills: readonly Skill[];
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

function agentOf(session: OpenSession, parts: AgentParts): Run["agent"] {
  const { options, settings, cwd, models, tools, mode, shell, sandbox, fileSnapshots } = parts;
  const { standing, questions } = parts;
  const { env, person, driver, refuse } = options;
  const paths = folders(env);
  const readable = [...readableFolders(session), ...parts.skills.map(({ path }) => dirname(path))];
  const rules = () => ({
    ...{ standing, programsInGit, tracked: trackedFiles },
    leaving: notesOnLeaving(session, fileSnapshots, workspaceOf(cwd, options)),
    realPath: (path: string) => realTarget(sandbox.onMachine(path)),
    matches: namesMatching,
    survey: surveyFolder,
    mode: person?.mode() ?? mode,
    allow: standing.allow(),
    allowEverywhere: standing.allowEverywhere(),
    deny: standing.deny(),
    workspace: workspaceOf(cwd, options),
    sandbox: sandbox.inForce(),
    temporary: sandbox.temporary(),
    readable,
    home: realHome(env),
    protectedPaths: [paths.config, paths.state],
    cwd: shell.cwd(),
    settled: sandbox.settled,
  });
  return {
    log: session.log,
    get model() {
      return models.current().model;
    },
    get summaries() {
      return models.current().summaries;
    },
    tools,
    policies: stackNamed(currentEngine(session.log.events()).context).policies,
    limits: limitsOf(options, settings),
    clock: Date.now,
    artifacts: session.artifacts,
    guard: parts.guard,
    beforeWrite: fileSnapshots.beforeWrite,
    permit: refusing(
      person ? permitAsking(rules, person.ask, standing, questions) : permitHeadless(rules, driver?.settle),
      refuse && ((access) => refuse(access, session.folder)),
    ),
    takeSteering: () =>
      (person ?? driver)?.takeSteering().map((message) => shortened(session, message)) ?? [],
    takeNotices: () => [...shell.takeNotices(), ...(parts.servers?.takeNotices() ?? [])],
    onPart: (part) => options.person?.onPart(part),
    onProgress: (toolUseId, text) => person?.onProgress(toolUseId, text),
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

/** Reads the instructions of folders below the one that the agent works in, unless the flags say none. */
function nestedInstructions({ options, cwd, shell, sandbox }: AgentParts): Partial<Run["agent"]> {
  const { flags, env, warn } = options;
  if (flags.bare) return {};
  const { onMachine } = sandbox;
  const scope = { workspace: workspaceRoot(cwd), cwd, home: env.HOME ?? homedir(), onMachine, warn };
  return { instructionsFor: instructionsReader({ ...scope, shellFolder: () => shell.cwd() }) };
}

/** Shows hidden characters and offloads long texts: pasted or piped text may hide as much as a file. */
function shortened({ log, artifacts }: OpenSession, message: UserMessage): UserMessage {
  const shown = message.content.map((block) =>
    block.type === "text" ? { ...block, text: showHidden(block.text) } : block,
  );
  return { ...message, content: offloadPastes(shown, artifacts, pasteLimit(log.events())) };
}

/**
 * Returns the session's own folder, and those of the sessions it was branched from, whose artifacts its history names.
 */
function readableFolders({ folder, log }: OpenSession): string[] {
  return [folder, ...ancestorFolders(folder, started(log.events()).parent)];
}

export function realHome(env: OpenOptions["env"]): string {
  const home = env.HOME ?? homedir();
  return existsSync(home) ? realpathSync(home) : home;
}

/** Returns the folder that the agent works in, with links resolved. */
export function workspaceOf(cwd: string, { flags, cwd: here }: Pick<OpenOptions, "flags" | "cwd">): string[] {
  return [workspaceRoot(cwd), ...flags.addDirs.map((folder) => existing(folder, here))];
}

function existing(folder: string, cwd: string): string {
  try {
    return realpathSync(resolve(cwd, folder));
  } catch {
    throw new UsageError(`--add-dir ${folder}: no such folder`);
  }
}
