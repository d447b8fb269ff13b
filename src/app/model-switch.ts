/** Lists the models that a session can continue with, and switches to one of them. */

import { join } from "node:path";
import { folders } from "../config/folders.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { switchCost } from "../context/report/switch-cost.ts";
import { UsageError } from "../core/errors.ts";
import type { ModelCard } from "../core/model-card.ts";
import { currentModel } from "../core/questions.ts";
import { accessOf, missingOf } from "../models/access.ts";
import { findCard, listCards } from "../models/cards.ts";
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
  const settings = settingsOf(options);
  const rows = providersWith(settings.providers);
  const usable = { env: withStoredKeys({ ...options, warn: () => {} }), rows };
  const rest = [...ofPlan(settings, usable), ...known(settings)].filter(({ id }) => id !== model.id);
  const others = rest.flatMap((card) => {
    const lacking = isUsable(card.id, usable) ? undefined : lackingOf(card.id, usable);
    return lacking === undefined ? [] : [{ card, lacking }];
  });
  const own = rows.filter((row) => row.wire !== "messages" && !accessOf(row, usable.env).isOwnHost);
  return {
    listed: [
      { card: model },
      ...rest.filter(({ id }) => isUsable(id, usable)).map((card) => ({ card })),
      ...others,
    ],
    current: model.id,
    ...(own.length > 0
      ? { others: `any model of your server: ${own.map(({ name }) => `/model ${name}/<id>`).join(", ")}` }
      : {}),
  };
}

function settingsOf({ flags, env }: SwitchOptions): Settings {
  return flags.bare ? {} : readSettings(join(folders(env).config, "settings.json"));
}

/** Returns the cards of the file, and those in the settings. */
function known({ models = {} }: Settings): ModelCard[] {
  const ids = listCards().map(({ id }) => id);
  const own = Object.keys(models).filter((id) => !ids.includes(id));
  return [...ids, ...own].map((id) => findCard(id, { overrides: models }).card);
}

/** Returns the models that a ChatGPT plan pays for: those of OpenAI, once somebody is signed in. */
function ofPlan({ models }: Settings, { env, rows }: Usable): ModelCard[] {
  const row = rows.find(({ plan }) => plan);
  if (!row || missingOf(row, env) !== undefined) return [];
  const ids = listCards().flatMap(({ id }) => (id.startsWith("openai/") ? [splitName(id).id] : []));
  return ids.map((id) => findCard(`${row.name}/${id}`, { overrides: models, row }).card);
}

type Usable = { env: SwitchOptions["env"]; rows: readonly Provider[] };

/** Returns true when its provider can be used. A self-hosted server has models of its own: the public cards do not apply to it. */
function isUsable(id: string, { env, rows }: Usable): boolean {
  const row = rows.find(({ name }) => name === splitName(id).provider);
  if (!row || missingOf(row, env) !== undefined) return false;
  return (
    accessOf(row, env).isOwnHost || row.wire === "messages" || !listCards().some((card) => card.id === id)
  );
}

/** Says what a model needs; undefined where it cannot be used at all: another server stands in for its provider. */
function lackingOf(id: string, { env, rows }: Usable): string | undefined {
  const row = rows.find(({ name }) => name === splitName(id).provider);
  const missing = row && missingOf(row, env);
  return missing === undefined ? undefined : `needs ${row?.keys[0]}`;
}

/** Finds a model. Throws `UsageError` or `StartError`, with nothing changed. */
export async function findModel(
  name: string,
  { agent, models }: Run,
  options: SwitchOptions,
): Promise<ModelChoice> {
  const { flags, cwd } = options;
  const settings = settingsOf(options);
  const events = agent.log.events();
  const warnings: string[] = [];
  const env = withStoredKeys({ ...options, warn: (text) => void warnings.push(text) });
  const choice = {
    name: fullName(name, known(settings), { env, rows: providersWith(settings.providers) }),
    ...{ flags, env, cwd, recording: true },
    startAt: events.filter(({ type }) => type === "assistant_message").length,
    overrides: settings.models,
    own: settings.providers,
    warn: (text: string) => void warnings.push(text),
  };
  const model = await chooseModel(choice);
  checkPriced(flags, model);
  const { effort } = currentModel(events);
  const changed = { type: "model_changed" as const, model: model.card, ...(effort ? { effort } : {}) };
  checkRoom([...events, { seq: events.length, at: 0, ...changed }]);
  return {
    card: model.card,
    cost: switchCost(events, model.card, agent.clock()),
    warnings,
    take() {
      const wanted = summaryModelOf(settings, model.card);
      models.add({ model, summaries: summaryModels(model.card, wanted, { ...choice, warn: () => {} }) });
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
function fullName(name: string, cards: readonly ModelCard[], usable: Usable): string {
  const names = ["scripted", "recorded", ...usable.rows.map((row) => row.name)];
  if (names.includes(splitName(name).provider) || /\s/.test(name)) return name;
  const ids = cards.map(({ id }) => id);
  const exact = ids.find((id) => id === name || id.endsWith(`/${name}`));
  const part = name.toLowerCase();
  const similar = ids.filter((id) => id.includes(part) && isUsable(id, usable));
  if (exact || similar.length === 1) return exact ?? similar[0] ?? name;
  if (similar.length > 1) throw new UsageError(`${name} is ambiguous: ${similar.join(", ")}`);
  throw new UsageError(`unknown model ${name}: /model lists the models; name one as provider/id`);
}
