/** Lists the models that a session can continue with, and switches to one of them. */

import { join } from "node:path";
import { withLearnedWindow } from "../agent/learned-window.ts";
import { folders } from "../config/folders.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { switchCost } from "../context/report/switch-cost.ts";
import { UsageError } from "../core/errors.ts";
import type { ModelCard } from "../core/model-card.ts";
import type { Model } from "../core/ports.ts";
import { currentModel } from "../core/questions.ts";
import { accessOf, missingOf } from "../models/access.ts";
import { cardIds, findCard } from "../models/cards.ts";
import { providersWith } from "../models/own-providers.ts";
import { type Provider, splitName } from "../models/providers.ts";
import type { ModelChoice, Models } from "../tui/ports/session-actions.ts";
import { chooseModel, summaryModels } from "./models.ts";
import { checkPriced } from "./open-session.ts";
import type { SessionOptions } from "./options.ts";
import type { Run } from "./session.ts";
import { checkRoom } from "./start-log.ts";
import { withStoredKeys } from "./stored-keys.ts";

export type SwitchOptions = {
  flags: SessionOptions;
  env: Record<string, string | undefined>;
  /** Where the session works. */
  cwd: string;
  /** Gets the model that the person goes on with: a new session begins with it. */
  chosen: { model?: string };
};

/** Returns the models: the current one, those that can be used now, and the others with what they need. */
export function modelsOf({ agent }: Run, options: SwitchOptions): Models {
  const { model } = currentModel(agent.log.events());
  const reach = reachOf(options);
  const rest = namedModels(reach).filter(({ id }) => id !== model.id);
  const others = rest.flatMap((named) => {
    const lacking = isUsable(named.id, reach) ? undefined : lackingOf(named.id, reach);
    return lacking === undefined ? [] : [{ card: cardOf(named, reach), lacking }];
  });
  const own = [...reach.providers.values()].filter(
    ({ row, isOwnHost }) => row.wire !== "messages" && !isOwnHost,
  );
  return {
    listed: [...usableModels(model, reach).map((card) => ({ card })), ...others],
    current: model.id,
    ...(own.length > 0
      ? { others: `any model of your server: ${own.map(({ row }) => `/model ${row.name}/<id>`).join(", ")}` }
      : {}),
  };
}

/** Returns the model of a session, and the others that can be used now. */
export function modelsInReach({ agent }: Run, options: SwitchOptions): ModelCard[] {
  return usableModels(currentModel(agent.log.events()).model, reachOf(options));
}

function usableModels(model: ModelCard, reach: Reach): ModelCard[] {
  const others = namedModels(reach).filter(({ id }) => id !== model.id && isUsable(id, reach));
  return [model, ...others.map((named) => cardOf(named, reach))];
}

/** A provider, what it lacks, and whether its requests go to its own host. */
type Reached = { row: Provider; missing: string | undefined; isOwnHost: boolean };

/** The settings, the providers by name, and the ids of the known models. */
type Reach = {
  settings: Settings;
  providers: ReadonlyMap<string, Reached>;
  ids: ReadonlySet<string>;
};

function reachOf(options: SwitchOptions): Reach {
  const settings = settingsOf(options);
  const env = withStoredKeys({ ...options, warn: () => {} });
  return reachWith(settings, env);
}

function reachWith(settings: Settings, env: SwitchOptions["env"]): Reach {
  const rows = providersWith(settings.providers);
  const reached = rows.map((row): [string, Reached] => [
    row.name,
    { row, missing: missingOf(row, env), isOwnHost: accessOf(row, env).isOwnHost },
  ]);
  return { settings, providers: new Map(reached), ids: new Set(cardIds()) };
}

function settingsOf({ flags, env }: SwitchOptions): Settings {
  return flags.bare ? {} : readSettings(join(folders(env).config, "settings.json"));
}

/** A model by its id. `row`: of the plan that pays for it. */
type Named = { id: string; row?: Provider };

/** Returns the models that a plan pays for, those of the file, and those in the settings. */
function namedModels(reach: Reach): Named[] {
  return [...ofPlan(reach), ...[...reach.ids, ...ownIds(reach)].map((id) => ({ id }))];
}

function ownIds({ settings, ids }: Reach): string[] {
  return Object.keys(settings.models ?? {}).filter((id) => !ids.has(id));
}

/** Returns the models that a ChatGPT plan pays for: those of OpenAI, once somebody is signed in. */
function ofPlan({ providers, ids }: Reach): Named[] {
  const plan = [...providers.values()].find(({ row }) => row.plan);
  if (!plan || plan.missing !== undefined) return [];
  const { row } = plan;
  const theirs = [...ids].filter((id) => id.startsWith("openai/"));
  return theirs.map((id) => ({ id: `${row.name}/${splitName(id).id}`, row }));
}

function cardOf({ id, row }: Named, { settings }: Reach): ModelCard {
  return findCard(id, { overrides: settings.models, row }).card;
}

/** Returns true when its provider can be used. A self-hosted server has models of its own: the public cards do not apply to it. */
function isUsable(id: string, { providers, ids }: Reach): boolean {
  const reached = providers.get(splitName(id).provider);
  if (!reached || reached.missing !== undefined) return false;
  return reached.isOwnHost || reached.row.wire === "messages" || !ids.has(id);
}

/** Says what a model needs; undefined where it cannot be used at all: another server stands in for its provider. */
function lackingOf(id: string, { providers }: Reach): string | undefined {
  const reached = providers.get(splitName(id).provider);
  return reached?.missing === undefined ? undefined : `needs ${reached.row.keys[0]}`;
}

/** Sets how hard the model thinks, from the next call on; undefined: as its maker means it. */
export function setEffort({ agent: { log } }: Run, effort: string | undefined): void {
  // From the log: the model may have learned that its window is smaller.
  const { model } = currentModel(log.events());
  log.append({ type: "model_changed", model, ...(effort === undefined ? {} : { effort }) });
}

/** Finds a model by its name, or takes one of a program's own. Throws `UsageError` or `StartError`, with nothing changed. */
export async function findModel(
  wanted: string | Model,
  { agent, models }: Run,
  options: SwitchOptions,
): Promise<ModelChoice> {
  const { flags, cwd } = options;
  const settings = settingsOf(options);
  const events = agent.log.events();
  const warnings: string[] = [];
  const env = withStoredKeys({ ...options, warn: (text) => void warnings.push(text) });
  const choice = {
    name: typeof wanted === "string" ? fullName(wanted, reachWith(settings, env)) : undefined,
    ...{ flags, env, cwd, recording: true },
    startAt: events.filter(({ type }) => type === "assistant_message").length,
    overrides: settings.models,
    own: settings.providers,
    warn: (text: string) => void warnings.push(text),
  };
  const model = typeof wanted === "string" ? await chooseModel(choice) : wanted;
  checkPriced(flags, model);
  const { effort } = currentModel(events);
  const card = withLearnedWindow(events, model.card);
  const changed = { type: "model_changed" as const, model: card, ...(effort ? { effort } : {}) };
  checkRoom([...events, { seq: events.length, at: 0, ...changed }]);
  return {
    card,
    cost: switchCost(events, card, agent.clock()),
    warnings,
    take() {
      const writer = typeof wanted === "string" ? summaryModelOf(settings, model.card) : "own";
      models.add({ model, summaries: summaryModels(model.card, writer, { ...choice, warn: () => {} }) });
      agent.log.append(changed);
      options.chosen.model = model.card.id;
    },
  };
}

/** Drops a summary model of another provider: this model then writes its own summaries. */
function summaryModelOf({ summaryModel }: Settings, { id }: ModelCard): string | undefined {
  const [provider] = id.split("/");
  return !summaryModel?.includes("/") || summaryModel.startsWith(`${provider}/`) ? summaryModel : "own";
}

/** Expands a part of a name that only one model has. */
function fullName(name: string, reach: Reach): string {
  const names = ["scripted", "recorded", ...reach.providers.keys()];
  if (names.includes(splitName(name).provider) || /\s/.test(name)) return name;
  const ids = [...reach.ids, ...ownIds(reach)];
  const exact = ids.find((id) => id === name || id.endsWith(`/${name}`));
  const part = name.toLowerCase();
  const similar = ids.filter((id) => id.includes(part) && isUsable(id, reach));
  if (exact || similar.length === 1) return exact ?? similar[0] ?? name;
  if (similar.length > 1) throw new UsageError(`${name} is ambiguous: ${similar.join(", ")}`);
  throw new UsageError(`unknown model ${name}: /model lists the models; name one as provider/id`);
}
