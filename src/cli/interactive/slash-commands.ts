/** Connects the slash commands to the session, the models and the files. Rare parts are loaded late. */

import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compactNow } from "../../agent/compact.ts";
import { personSkills } from "../../app/instructions/skills.ts";
import { findModel, modelsOf, type SwitchOptions } from "../../app/model-switch.ts";
import { realHome, sessionRoot } from "../../app/opening/folders.ts";
import { readPrompt } from "../../app/prompts.ts";
import type { Run } from "../../app/session.ts";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { readCommands } from "../../config/own-commands.ts";
import { rememberTrust, trusted } from "../../config/trust.ts";
import { foldNow } from "../../context/policies/focus.ts";
import { policyInputOf } from "../../context/policies/policy-input.ts";
import { applyEvents } from "../../context/view/view.ts";
import { openFocus, spending } from "../../core/questions.ts";
import { commands } from "../../tui/commands/commands.ts";
import type { Compacted, OwnCommands, SessionActions } from "../../tui/ports/session-actions.ts";

export function sessionActions(run: Run, options: SwitchOptions): SessionActions {
  const own = ownCommandsOf(run, options);
  const { flags, env, cwd } = options;
  return {
    compact: (keep, signal) => compact(run, keep, signal),
    models: () => modelsOf(run, options),
    findModel: (name) => findModel(name, run, options),
    foldFocus: () => foldFocus(run),
    report: async () => (await import("./session-files.ts")).writeReport(run, env),
    exportTo: async (format, file) =>
      (await import("./session-files.ts")).writeExport(run, { format, file, cwd }),
    doctor: async () => (await import("./session-files.ts")).examined(sessionRoot({ flags, env, cwd })),
    ...own,
  };
}

/** Compacts the context. The user's wish is only part of the request: nobody said it in the conversation. */
async function compact({ agent }: Run, keep: string, signal: AbortSignal): Promise<Compacted> {
  const wish = readPrompt("summary-keep").replace("{{keep}}", () => agent.redact(keep.toWellFormed()));
  const summaryPrompt = keep === "" ? agent.summaryPrompt : `${agent.summaryPrompt}\n\n${wish}`;
  const before = spending(agent.log.events()).cost;
  const done = await compactNow({ ...agent, summaryPrompt }, signal);
  return { ...done, cost: spending(agent.log.events()).cost - before };
}

function foldFocus({ agent, folder }: Run): string | undefined {
  const events = agent.log.events();
  if (!openFocus(events)) return "no focus is open";
  const fold = foldNow(policyInputOf(events, applyEvents(events), agent.clock()));
  if (!fold) return "there is too little in the focus to fold yet";
  appendFileSync(join(folder, "knowledge.md"), `${fold.text}\n\n`, { mode: 0o600 });
  agent.log.append({ type: "context_edited", ...fold.plan });
  return undefined;
}

/** Returns the user's commands, and the project's once trusted; read once, so that the trusted text is the one sent. */
function ownCommandsOf(
  { agent }: Run,
  { flags, env, cwd }: SwitchOptions,
): Pick<SessionActions, "own" | "trust"> {
  const none: OwnCommands = { commands: [], notes: [] };
  if (flags.bare) return { own: () => none, trust() {} };
  const paths = folders(env);
  const workspace = workspaceRoot(cwd);
  const builtIn = commands.map(({ name }) => name);
  const mine = readCommands({
    folder: join(paths.config, "commands"),
    called: join(paths.config, "commands"),
    taken: new Set(builtIn),
  });
  const own = personSkills({ flags, env }, realHome(env), (note) => mine.notes.push(note));
  const taken = new Set([...builtIn, ...mine.commands.map(({ name }) => name.toLowerCase())]);
  const skills = own.filter(({ name }) => !taken.has(name));
  const hidden = own.filter(({ name }) => taken.has(name));
  mine.notes.push(
    ...hidden.map(({ name }) => `the skill ${name} has no command: there is a /${name} already`),
  );
  mine.commands.push(
    ...skills.map(({ name, description, path, text }) => ({
      ...{ name, description },
      text: `Skill ${name}, of the folder ${dirname(path)}:\n\n${text}`,
    })),
  );
  const names = mine.commands.map(({ name }) => name.toLowerCase());
  const folder = join(workspace, ".sawtooth/commands");
  const called = ".sawtooth/commands";
  const project = readCommands({ folder, inside: workspace, called, taken: new Set([...builtIn, ...names]) });
  const decision = { hash: project.hash, folder };
  const file = join(paths.state, "trusted.jsonl");
  const { now, before } = trusted(file, decision);
  const clean = ({ commands: found }: typeof mine) =>
    found.map((each) => ({
      ...each,
      text: agent.redact(each.text),
      description: agent.redact(each.description),
    }));
  const notes = [...mine.notes, ...project.notes];
  const all = { commands: [...clean(mine), ...clean(project)], notes };
  const trust = { folder: called, commands: clean(project), changed: before };
  let state: OwnCommands =
    project.hash === "" || now ? all : { commands: clean(mine), notes, untrusted: trust };
  return {
    own: () => state,
    trust() {
      state = all;
      rememberTrust(file, decision);
    },
  };
}
