/** Finds what can be used now: keys in the environment, stored keys, servers on this machine that answer. Sends no key anywhere but to its own provider. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import type { Settings } from "../../config/settings.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { accessOf, missingOf, spokenRow, urlVariableOf } from "../../models/access.ts";
import { cardIds, findCard, listCards } from "../../models/cards.ts";
import { providersWith } from "../../models/own-providers.ts";
import { type Provider, splitName } from "../../models/providers.ts";
import type { Told } from "../../models/servers/ask.ts";
import type { SessionOptions } from "../options.ts";
import { withStoredKeys } from "../stored-keys.ts";
import { askWithin } from "./server-facts.ts";

/** How a provider was found. `variable`: the name of the one that holds its key or its address, never the key. */
export type Way =
  | { by: "variable"; variable: string }
  | { by: "stored_key" }
  | { by: "sign_in" }
  | { by: "server"; url: string }
  | { by: "cloud" }
  | { by: "no_key_needed"; url: string; variable?: string };

/** `way`: undefined where it cannot be used now, and `missing` says what to do. */
export type ProviderState = { row: Provider; way: Way | undefined; missing?: string; models: ModelCard[] };

type Context = {
  flags: Pick<SessionOptions, "bare">;
  env: Record<string, string | undefined>;
  settings: Settings;
  warn(text: string): void;
  /** Milliseconds that a server is waited for. */
  waitMs: number;
  /** True when providers on the net are not asked. */
  localOnly?: true;
};

/** Returns each provider of the table with what was found of it, in the table's order. All servers are asked at once. */
export async function findProviders(context: Context): Promise<ProviderState[]> {
  const env = withStoredKeys(context);
  const rows = providersWith(context.settings.providers);
  return Promise.all(rows.map((row) => stateOf(row, env, context)));
}

async function stateOf(row: Provider, env: Context["env"], context: Context): Promise<ProviderState> {
  const { settings, waitMs, localOnly } = context;
  const access = accessOf(row, env);
  const missing = missingOf(row, env);
  const spoken = spokenRow(row, env);
  if (missing !== undefined)
    return { row, way: undefined, missing, models: cardsOf(spoken, undefined, settings) };
  // A maker's own host lists models that no agent can use; its cards say more.
  const tellsMore =
    row.local ||
    (!localOnly && (!access.isOwnHost || !listCards().some(({ id }) => splitName(id).provider === row.name)));
  const file = join(folders(env).state, "servers.json");
  const told = tellsMore ? await askWithin(row, env, { file, waitMs }) : undefined;
  const models = cardsOf(spoken, told, settings);
  if (row.local && !told)
    return { row, way: undefined, missing: `no server answers at ${access.url}`, models };
  return { row, way: wayOf(row, access, context.env), models };
}

function wayOf(row: Provider, access: ReturnType<typeof accessOf>, plain: Context["env"]): Way {
  const { variable, url } = access;
  if (row.local) return { by: "server", url };
  if (row.plan && !plain[variable ?? ""]) return { by: "sign_in" };
  if (variable && plain[variable]) return { by: "variable", variable };
  if (variable) return { by: "stored_key" };
  if (row.signer) return { by: "cloud" };
  const named = urlVariableOf(row);
  return { by: "no_key_needed", url, ...(plain[named] ? { variable: named } : {}) };
}

/** Names the known models of a provider. A plan has those of OpenAI, as far as its server does not tell. */
function namesWithout({ name, plan }: Provider): string[] {
  const ids = cardIds();
  return plan ? ids.map((id) => id.replace(/^openai\//, `${name}/`)) : ids;
}

/** Returns the cards of a provider's models: those of the server where it tells them, else of the file, and those of the settings. */
function cardsOf(row: Provider, told: Told | undefined, { models = {} }: Settings): ModelCard[] {
  const isOwn = (id: string) => splitName(id).provider === row.name;
  const listed = told ? Object.keys(told).map((id) => `${row.name}/${id}`) : namesWithout(row);
  const ids = new Set([...listed, ...Object.keys(models)].filter(isOwn));
  return [...ids].map((id) => {
    const { loading: _, ...facts } = told?.[splitName(id).id] ?? {};
    return findCard(id, { overrides: models, row, told: facts }).card;
  });
}
