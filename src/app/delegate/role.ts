/** The role of a sub-agent: a skill that instructs it, with the model and effort that it asks for. */

import { isUnchanged } from "../../config/skills/content-hash.ts";
import type { Skill } from "../../config/skills/skill.ts";
import { exitCodeOf } from "../../core/errors.ts";
import { efforts } from "../../core/request.ts";
import type { OpenedModel } from "../current-model.ts";
import { chooseModel, summaryModels } from "../models.ts";
import { withStoredKeys } from "../stored-keys.ts";
import type { Delegating } from "./delegating.ts";

/** A role in use. `effort`: one that there is. */
export type Role = { skill: Skill; effort?: string };

/** Returns the role with this name, or why there is none, as a sentence for the model. */
export function roleNamed(name: string, { skills, options }: Delegating, byPerson: boolean): Role | string {
  const skill = skills.role(name);
  if (!skill || !(skill.byModel || byPerson)) {
    const names = skills
      .inUse()
      .flatMap(({ fork, byModel, ...each }) => (fork && byModel ? [each.name] : []));
    return `There is no role ${name}. ${names.length > 0 ? `Roles: ${names.join(", ")}.` : "There are none here."}`;
  }
  if (!isUnchanged(skill))
    return `The role ${skill.name} has changed on the disk since the person trusted it: say so, or delegate without it.`;
  const { effort } = skill.fork ?? {};
  if (effort === undefined || (efforts as readonly string[]).includes(effort))
    return { skill, ...(effort === undefined ? {} : { effort }) };
  options.warn(
    `the role ${skill.name} asks for the effort ${effort}, which there is not: ${efforts.join(", ")}`,
  );
  return { skill };
}

/**
 * Returns the instruction of a sub-agent: the same bytes for every task. The task is no part of it: it may repeat what
 * strangers wrote.
 */
export function roleText({ skill }: Role): string {
  const { name, folder, text } = skill;
  const where = folder === undefined ? "" : `, of the folder ${folder}`;
  return `Your role is the skill ${name}${where}:\n\n${text.replaceAll("$ARGUMENTS", "(the task of the first message)")}`;
}

/**
 * Opens the model that a role asks for; undefined where it asks for none, or for one that the person's settings do not
 * permit (`delegateModels`), which is told.
 */
export async function roleModel(
  { skill }: Role,
  { run, settings, options }: Delegating,
): Promise<OpenedModel | undefined> {
  const wanted = skill.fork?.model;
  const own = run.models.current().model.card.id;
  if (wanted === undefined) return undefined;
  const id = permitted(wanted, [own, ...(settings.delegateModels ?? [])]);
  if (id === own) return undefined;
  const { flags, cwd, warn, wrapModel = (model) => model } = options;
  const refused = (why: string) =>
    warn(`the role ${skill.name} asks for the model ${wanted}, ${why}; it works with ${own}`);
  if (id === undefined) return void refused("which delegateModels in settings does not name");
  const choice = {
    ...{ name: id, flags, env: withStoredKeys(options), cwd, warn, startAt: 0, recording: true },
    ...{ overrides: settings.models, own: settings.providers },
  };
  try {
    const model = wrapModel(await chooseModel(choice), run.agent.redact);
    if (run.agent.limits.maxBudgetUsd !== undefined && model.card.prices.output === 0)
      return void refused("which has no known prices, and there is a budget");
    return { model, summaries: summaryModels(model.card, "own", choice) };
  } catch (error) {
    if (exitCodeOf(error) === undefined) throw error;
    return void refused(`which cannot be used (${(error as Error).message})`);
  }
}

/** Finds the one of these ids that a role means: by its whole name, or a part of it that no other has. */
function permitted(wanted: string, ids: readonly string[]): string | undefined {
  const name = wanted.toLowerCase();
  const whole = ids.find((id) => id.toLowerCase() === name || id.toLowerCase().endsWith(`/${name}`));
  const parts = [...new Set(ids.filter((id) => id.toLowerCase().includes(name)))];
  return whole ?? (parts.length === 1 ? parts[0] : undefined);
}
