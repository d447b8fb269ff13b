/** Puts the parts together: a session, its shell and tools, a model, and the agent over them. */

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { workspaceRedactor } from "../config/env-files.ts";
import { folders } from "../config/folders.ts";
import { workspaceRoot } from "../config/instructions.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import type { PermissionMode } from "../core/decision.ts";
import { UsageError } from "../core/errors.ts";
import type { UserMessage } from "../core/events.ts";
import type { Access, Model } from "../core/ports.ts";
import { currentModel, started } from "../core/questions.ts";
import { credentialsFolder, storedSecrets } from "../credentials/keys.ts";
import type { SessionServers } from "../mcp/servers.ts";
import { createSession, type Fork, forkSession, type OpenSession, openSession } from "../session/store.ts";
import { agentSnapshots } from "../undo/agent.ts";
import { branchSnapshots } from "../undo/journal.ts";
import { checkChoices, warnUnpriced } from "./choices.ts";
import { type OpenedModel, openedModels } from "./current-model.ts";
import { delegationOf } from "./delegate/delegation.ts";
import { hooksOf } from "./hooks.ts";
import { preambleOf } from "./instructions/first-message.ts";
import { type SessionSkills, sessionSkills } from "./instructions/skills.ts";
import { shortened } from "./messages/paste.ts";
import { chooseModel, storedModel, summaryModels } from "./models.ts";
import { agentOf } from "./opening/agent.ts";
import { folderOf, realHome, sessionRoot, workspaceOf } from "./opening/folders.ts";
import { telemetryOf } from "./opening/telemetry.ts";
import { workplaceOf } from "./opening/workplace.ts";
import type { SessionOptions } from "./options.ts";
import { watchMachine } from "./orphans.ts";
import type { OpenQuestions } from "./permissions.ts";
import { sessionPlugins } from "./plugins/session-plugins.ts";
import { standingRules } from "./rules.ts";
import type { OpenOptions, Run } from "./session.ts";
import { begin } from "./start-log.ts";
import { withStoredKeys } from "./stored-keys.ts";
import { watchUncaught } from "./uncaught.ts";

/** Opens a session ready to run: a new one, or the stored one that the flags name. */
export async function openRun(options: OpenOptions): Promise<Run> {
  const paths = folders(options.env);
  const settings = options.flags.bare ? {} : readSettings(join(paths.config, "settings.json"));
  checkChoices(options.flags, settings, join(paths.config, "settings.json"));
  const root = sessionRoot(options);
  const { delegate } = options;
  const created = { root: delegate?.root ?? root, ...outside(options), cwd: realpathSync(options.cwd) };
  const session = (await openStored(options, root)) ?? (await createSession(created));
  try {
    return await runOver(session, options, settings);
  } catch (error) {
    session.close();
    throw error;
  }
}

function outside({ warn }: OpenOptions) {
  return { clock: Date.now, warn };
}

async function openStored(options: OpenOptions, root: string): Promise<OpenSession | undefined> {
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
  const standing = options.delegate?.standing ?? rulesIn(cwd, options, settings);
  const delegation = delegationOf(session, options, standing);
  const first = await choosing;
  const place = { home: realHome(env), workspace: workspaceRoot(cwd), headless: !options.person };
  const plugins = await sessionPlugins(options);
  const skills = await sessionSkills({ ...options, redact, ...place, delegation, plugins: plugins.places });
  const { sandbox, network, shell, tools, walls, servers } = await workplaceOf(session, options, {
    ...{ cwd, settings, mode, standing, redact, skills, plugins, delegation },
  });
  if (sandbox.choice === "on") await sandbox.status();
  begin(session, { ...options, settings, cwd, model: first.model, tools, deny: standing.deny() });
  const fileSnapshots = agentSnapshots({
    ...{ ...session, parser, ...outside(options) },
    ...{ workspace: workspaceOf(cwd, options), except: [sessionRoot(options)] },
  });
  const questions: OpenQuestions = new Set();
  const models = openedModels(session.log, first);
  const hooks = await hooksIn(session, options, settings, { cwd, mode, redact, shell });
  const killAll = () => [shell.killAll(), servers?.kill()];
  process.on("exit", killAll);
  const uncaught = options.uncaught ?? watchUncaught((error) => crash(session, options, error));
  const reportRest = watchedMachine(session, options, shell);
  const telemetry = await telemetryOf(session.log, options, redact);
  const run: Run = {
    sessionId: session.id,
    folder: session.folder,
    ...{ mode, models, skills, servers, delegation, rules: standing },
    ...{ snapshots: fileSnapshots.snapshots, hooks: options.delegate ? undefined : hooks },
    sandbox: { ...sandbox, ...walls },
    judgeAgain: () => void [...questions].map((again) => again()),
    jobs: { list: shell.jobs, stop: shell.stopJob, keep: shell.keepJob },
    agent: agentOf(session, {
      ...{ options, settings, cwd, models, redact, tools, skills, hooks },
      ...{ mode, shell, sandbox, fileSnapshots, standing, questions, servers, guard: uncaught.guard },
    }),
    say: (content, shell) =>
      say(session, options, { content, ...(shell ? { shell } : {}) }, { servers, skills }),
    async close() {
      reportRest();
      network.close();
      await Promise.all([shell.close(), servers?.close()]);
      // Not before: a second signal may end us while they end.
      process.off("exit", killAll);
      await Promise.all([fileSnapshots.snapshots.close(), telemetry?.close()]);
      session.close();
      if (!options.uncaught) uncaught.close();
    },
  };
  delegation?.begin({ run, settings, skills, options, standing, uncaught, openRun });
  return run;
}

function watchedMachine(
  { log }: OpenSession,
  options: OpenOptions,
  shell: Parameters<typeof watchMachine>[1],
): () => void {
  const { warn, person } = options;
  return watchMachine(log, shell, { root: sessionRoot(options), warn, reportOrphans: !person });
}

function rulesIn(cwd: string, { flags, env, person, warn }: OpenOptions, settings: Settings) {
  return standingRules({
    ...{ flags, settings, env, config: folders(env).config, root: workspaceRoot(cwd) },
    ...{ session: person?.allowed ?? [], warn },
  });
}

/** Returns what a command is read by before a snapshot. */
const parser = async (access: Access) => (await import("./bash-grammar.ts")).parserFor(access);

/** Checks that a new session would have a model. Throws `UsageError` and `StartError`. */
export async function checkModel(
  options: Pick<OpenOptions, "flags" | "env" | "cwd" | "warn">,
): Promise<void> {
  const { flags, env, cwd, warn } = options;
  const settings = flags.bare ? {} : readSettings(join(folders(env).config, "settings.json"));
  const facts = { startAt: 0, overrides: settings.models, own: settings.providers };
  const name = flags.model ?? settings.model;
  await chooseModel({ name, flags, env: withStoredKeys(options), cwd, warn, ...facts });
}

/** Returns the person's hooks, which work in the folder of the shell. They hear of a sub-agent only its calls. */
function hooksIn(
  session: OpenSession,
  { flags, env, person, driver, warn, delegate }: OpenOptions,
  settings: Settings,
  of: { cwd: string; mode: PermissionMode; redact: Run["agent"]["redact"]; shell: { cwd(): string } },
) {
  if (flags.bare) return undefined;
  return hooksOf(settings, session, {
    ...{ project: workspaceRoot(of.cwd), cwd: of.shell.cwd, env, redact: of.redact, warn },
    mode: () => (person ?? driver)?.mode?.() ?? of.mode,
    isDelegate: delegate !== undefined,
    file: join(folders(env).config, "settings.json"),
  });
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
  if (options.delegate) return options.delegate.model;
  const { wrapModel = (model) => model } = options;
  const choice = modelChoice(session, options, settings);
  const model = wrapModel(options.model ?? (await chooseModel(choice)), redact);
  checkPriced(options.flags, model);
  warnUnpriced(options, settings, model);
  // A model of the settings belongs to a provider, which a program's own model need not have.
  const wanted = options.model ? "own" : settings.summaryModel;
  return { model, summaries: summaryModels(model.card, wanted, choice) };
}

/** Appends a user message; the session's first one carries the facts about the folder. */
function say(
  session: OpenSession,
  options: OpenOptions,
  message: UserMessage,
  { servers, skills }: { servers: SessionServers | undefined; skills: SessionSkills },
): void {
  const events = session.log.events();
  const { cwd, context } = started(events);
  const first = !events.some((event) => event.type === "user_message");
  const lists = () => ({ servers: servers?.firstLines(), skills: skills.catalogue(events) });
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
