/** Connects the slash commands to the session, the models and the files. Rare parts are loaded late. */

import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compactNow } from "../../agent/compact.ts";
import { findModel, modelsOf, type SwitchOptions } from "../../app/model-switch.ts";
import { sessionRoot } from "../../app/opening/folders.ts";
import { readPrompt } from "../../app/prompts.ts";
import type { Run } from "../../app/session.ts";
import { calledBy, type Skill } from "../../config/skills/skill.ts";
import { foldNow } from "../../context/policies/focus.ts";
import { policyInputOf } from "../../context/policies/policy-input.ts";
import { textTokens } from "../../context/view/tokens.ts";
import { applyEvents } from "../../context/view/view.ts";
import { openFocus, spending } from "../../core/questions.ts";
import { commands } from "../../tui/commands/commands.ts";
import type { Compacted, OwnCommand, OwnCommands, SessionActions } from "../../tui/ports/session-actions.ts";

export function sessionActions(run: Run, options: SwitchOptions): SessionActions {
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
    delegate: async (name, argument, signal) =>
      (await import("../../app/delegate/start-role.ts")).startRole(run, name, argument, signal),
    own: () => ownCommandsOf(run),
    trust: (these) =>
      trustThese(
        run,
        these.map(({ called }) => called),
      ),
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

const builtIn = new Set(commands.map(({ name }) => name));

/** Returns the commands and skills in use, and those that wait. */
function ownCommandsOf({ skills }: Run): OwnCommands {
  const inUse = skills.inUse();
  const taken = new Set(builtIn);
  const hidden: string[] = [];
  const named = inUse.filter((skill) => {
    const name = skill.name.toLowerCase();
    if (taken.has(name)) hidden.push(`${calledBy(skill)} has no command: there is a /${name} already`);
    return !taken.has(name) && taken.add(name);
  });
  return {
    commands: named.map(commandOf),
    notes: [...skills.notes(), ...hidden],
    skills: inUse.map((skill) => ({
      ...{ ...commandOf(skill), called: calledBy(skill), origin: skill.origin },
      ...{ isSkill: skill.folder !== undefined, asksForTools: skill.asksForTools },
      tokens: textTokens(skill.text),
      line: skill.byModel ? textTokens(`${skill.name}${skill.description}${skill.path}`) : 0,
    })),
    untrusted: skills.untrusted().map((skill) => ({
      ...{ ...commandOf(skill), called: calledBy(skill), place: skill.place, changed: skill.changed },
      files: skill.folder === undefined ? undefined : skill.files,
      asksForTools: skill.asksForTools,
    })),
  };
}

/** Returns what is said when the person starts it. */
function commandOf({ name, description, text, folder, path, argument, fork }: Skill): OwnCommand {
  const said = folder === undefined ? text : `Skill ${name}, of the folder ${dirname(path)}:\n\n${text}`;
  return { name, description, text: said, hint: argument, isRole: fork !== undefined };
}

function trustThese({ skills }: Run, called: readonly string[]): void {
  skills.trust(skills.untrusted().filter((skill) => called.includes(calledBy(skill))));
}
