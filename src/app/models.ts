/** Turns a model's name into a model that can be called. */

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { OtherModels } from "../agent/agent.ts";
import { folders } from "../config/folders.ts";
import { readSettings } from "../config/settings.ts";
import { NoModel, UsageError } from "../core/errors.ts";
import type { LogEvent } from "../core/events.ts";
import type { ModelCard } from "../core/model-card.ts";
import type { Model } from "../core/ports.ts";
import { currentModel } from "../core/questions.ts";
import { similar } from "../core/text/nearest.ts";
import { whyUnwritable } from "../disk/error-words.ts";
import {
  type Access,
  accessOf,
  type Environment,
  isOnThisMachine,
  missingOf,
  spokenRow,
  urlVariableOf,
} from "../models/access.ts";
import { findCard, listCards } from "../models/cards.ts";
import { type OwnProviders, providersWith } from "../models/own-providers.ts";
import { type Provider, providers, splitName } from "../models/providers.ts";
import type { SessionOptions } from "./options.ts";
import { checkUsable, encoderOf, openModel } from "./providers/open-model.ts";

/** The model that answered a stored session. `calls`: also after a call, so its server takes calls as they are sent. */
type Stored = { card: ModelCard; calls: boolean };
type Choice = {
  /** `provider/id`; undefined: the model that the environment has a key for. */
  name: string | undefined;
  flags: SessionOptions;
  env: Environment;
  cwd: string;
  /** Number of replies that the session already has: a script continues after them. */
  startAt: number;
  /** The keys `models` and `providers` of the settings. */
  overrides: Readonly<Record<string, unknown>> | undefined;
  own: OwnProviders;
  stored?: Stored | undefined;
  /** True when a cassette of this run has begun, which then continues. */
  recording?: boolean;
  warn(text: string): void;
};

/** Chooses the model. Throws `UsageError` for an unknown model and `StartError` when its key is missing. */
export async function chooseModel(choice: Choice): Promise<Model> {
  const name = choice.name ?? defaultName(choice.env);
  const { provider, id } = splitName(name);
  const model = await make(provider, id, name, choice);
  const { record } = choice.flags;
  if (record === undefined) return model;
  const { recording } = await import("../models/playback/recorded.ts");
  if (!choice.recording) writeFile(record, () => writeFileSync(record, "", { mode: 0o600 }));
  let failed = false;
  return recording(model, (line) => {
    if (failed) return;
    try {
      appendFileSync(record, line.endsWith("\n") ? line : `${line}\n`);
    } catch (error) {
      failed = true;
      choice.warn(`${whyUnwritable(record, error)}: the cassette ends here, and the run goes on without it`);
    }
  });
}

async function make(provider: string, id: string, name: string, choice: Choice): Promise<Model> {
  const { flags, cwd, startAt, env } = choice;
  if (provider === "scripted") {
    const { parseScript } = await import("../models/playback/script.ts");
    const { scriptedCard, scriptedModel } = await import("../models/playback/scripted.ts");
    const script = await parseScript(readText(id, cwd, "script"), id).catch((error: Error) => {
      throw new UsageError(error.message);
    });
    return scriptedModel({ card: scriptedCard(script), turns: script.turns, cwd, startAt });
  }
  if (provider === "recorded") {
    const { recordedModel } = await import("../models/playback/recorded.ts");
    return recordedModel({ cassette: readText(id, cwd, "cassette"), loose: flags.loose, fileName: id });
  }
  const stored = choice.stored?.card.id === `${provider}/${id}` ? choice.stored : undefined;
  const row = spokenRow(rowNamed(provider, name, choice), env, stored?.card);
  checkUsable(row, `${provider}/${id}`, env);
  const card = await askedCard(row, `${provider}/${id}`, choice);
  return openModel(row, stored ? asBefore(card, stored) : card, env);
}

/** The model of a session, once it answered; undefined before. */
export function storedModel(events: readonly LogEvent[]): Stored | undefined {
  const isReply = ({ type }: LogEvent) => type === "assistant_message";
  if (!events.some(isReply)) return undefined;
  const called = events.findIndex(({ type }) => type === "tool_result");
  return { card: currentModel(events).model, calls: called >= 0 && events.slice(called).some(isReply) };
}

/** Calls that a server took without their thinking keep being sent so: what was added now would change them. */
function asBefore(card: ModelCard, { card: before, calls }: Stored): ModelCard {
  if (!calls || before.contract.thinking !== undefined || card.api) return card;
  const { thinking: _, ...contract } = card.contract;
  return { ...card, contract };
}

/** Throws `UsageError`. */
function rowNamed(provider: string, name: string, { own }: Choice): Provider {
  const rows = providersWith(own);
  const row = rows.find((each) => each.name === provider);
  if (row) return row;
  if (!provider)
    throw new UsageError(
      `unknown model ${name}: name it as provider/id, such as anthropic/claude-sonnet-5-5, ollama/qwen3-coder or scripted/run.yaml (see sawtooth models ${name})`,
    );
  const names = rows.map((each) => each.name);
  const meant = similar(provider, names);
  throw new UsageError(
    `unknown provider ${provider} in ${name}${meant ? `: did you mean ${meant}?` : ":"} There are ${names.join(", ")}; one of your own is a row in "providers" in settings: {"${provider}": {"wire": "chat", "url": "https://host/v1", "key": "NAME_OF_A_VARIABLE"}}`,
  );
}

/** Returns the card with what the server itself tells. */
async function askedCard(named: Provider, id: string, choice: Choice): Promise<ModelCard> {
  const { overrides, env, warn } = choice;
  const row = isOnThisMachine(accessOf(named, env).url) ? { ...named, local: true as const } : named;
  const plain = findCard(id, { overrides, row });
  const wanted = named.local || plain.warning !== undefined;
  const told =
    row.asks && wanted
      ? await (await import("./providers/server-facts.ts")).serverFacts(row, id, env)
      : undefined;
  const { card, warning } = told ? findCard(id, { overrides, row, told: told.facts }) : plain;
  if (told?.isAbsent) return card;
  if (warning) warn(warning);
  for (const note of told?.notes(card) ?? []) warn(note);
  return card;
}

/**
 * Returns the models that may write summaries in place of `own`: those of its provider, on the provider's own host, as
 * other hosts may not have them. `wanted`: "auto", "own", or one model, used whatever it costs. Throws `UsageError`.
 */
export function summaryModels(own: ModelCard, wanted: string | undefined, choice: Choice): OtherModels {
  const { provider } = splitName(own.id);
  const { env, overrides } = choice;
  const known = providersWith(choice.own).find(({ name }) => name === provider);
  const row = known && spokenRow(known, env, own);
  const open = async (card: ModelCard): Promise<Model> => {
    if (!row) throw new Error(`${provider} opens no other models`);
    return openModel(row, card, env);
  };
  const always = wanted !== undefined && wanted !== "auto" && wanted !== "own";
  if (always && !wanted.startsWith(`${provider}/`))
    throw new UsageError(
      `summaryModel ${wanted}: must be "auto", "own" or a model of ${provider}, which this session talks to`,
    );
  if (always) return { cards: [cardOf(wanted, row, choice)], always, open };
  const isOffered = row !== undefined && accessOf(row, env).isOwnHost && choice.flags.record === undefined;
  const cards = wanted === "own" || !isOffered ? [] : listCards();
  const others = cards.filter(({ id }) => id.startsWith(`${provider}/`) && id !== own.id);
  return { cards: others.map(({ id }) => findCard(id, { overrides, row }).card), always, open };
}

/** Encodes each request of a session as the model of its step does. It needs no key; OpenAI's depend on the host of `env`. */
export async function encodingOf(
  events: readonly LogEvent[],
  env: Environment = process.env,
): Promise<Model["encode"]> {
  const rows = providersWith(ownProviders(env));
  const encoder = async (card: ModelCard): Promise<Model["encode"]> => {
    const row = rows.find(({ name }) => name === splitName(card.id).provider);
    return row ? encoderOf(row, card, env) : JSON.stringify;
  };
  const { model } = currentModel(events);
  const cards = new Map([[model.id, model]]);
  for (const event of events)
    if ("model" in event && typeof event.model === "object") cards.set(event.model.id, event.model);
  const encoders = new Map<string, Model["encode"]>();
  for (const [id, card] of cards) encoders.set(id, await encoder(card));
  return (request) => (encoders.get(request.model) ?? encoders.get(model.id) ?? JSON.stringify)(request);
}

/** Reads the rows of the settings; none where they cannot be read, which other commands tell. */
function ownProviders(env: Environment): OwnProviders {
  try {
    return readSettings(join(folders(env).config, "settings.json")).providers;
  } catch {
    return {};
  }
}

function defaultName(env: Environment): string {
  if (env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN) return "anthropic/claude-sonnet-5-5";
  const isNamed = ({ key, isOwnHost }: Access) => key !== undefined || !isOwnHost;
  const found = providers.find(
    (row) => !row.signer && missingOf(row, env) === undefined && isNamed(accessOf(row, env)),
  );
  if (found) {
    const set = accessOf(found, env).variable ?? urlVariableOf(found);
    throw new NoModel(
      `there is ${set}: name its model with --model ${found.name}/<id> (sawtooth models ${found.name} lists them)`,
      2,
    );
  }
  throw new NoModel(
    "no credentials: set ANTHROPIC_API_KEY, store a key with sawtooth login, or name another model with --model (sawtooth models lists what can be used)",
    4,
  );
}

function cardOf(id: string, row: Provider | undefined, { overrides, warn }: Choice): ModelCard {
  const { card, warning } = findCard(id, { overrides, row });
  if (warning) warn(warning);
  return card;
}

function readText(file: string, cwd: string, kind: string): string {
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch (error) {
    throw new UsageError(`cannot read the ${kind} ${file}: ${reason(error)}`);
  }
}

function writeFile(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new UsageError(whyUnwritable(file, error));
  }
}

function reason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
