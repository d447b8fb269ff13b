/** Turns a model's name into a model that can be called. */

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { OtherModels } from "../agent/agent.ts";
import { duration } from "../config/values.ts";
import { StartError, UsageError } from "../core/errors.ts";
import type { LogEvent } from "../core/events.ts";
import type { ModelCard } from "../core/model-card.ts";
import { type Model, ModelError } from "../core/ports.ts";
import { currentModel } from "../core/questions.ts";
import { whyUnwritable } from "../disk/error-words.ts";
import { anthropicModel } from "../models/anthropic/anthropic.ts";
import { encodeAnthropic } from "../models/anthropic/encoding.ts";
import { findCard, listCards } from "../models/cards.ts";
import { withRetry } from "../models/http/retry.ts";
import { encodeOpenai } from "../models/openai/encoding.ts";
import { dialectOf, openaiModel } from "../models/openai/openai.ts";
import { recordedModel, recording } from "../models/playback/recorded.ts";
import { parseScript } from "../models/playback/script.ts";
import { scriptedCard, scriptedModel } from "../models/playback/scripted.ts";
import type { SessionOptions } from "./options.ts";

type Environment = Record<string, string | undefined>;
type Choice = {
  /** `provider/id`; undefined: the model that the environment has a key for. */
  name: string | undefined;
  flags: SessionOptions;
  env: Environment;
  cwd: string;
  /** Number of replies that the session already has: a script continues after them. */
  startAt: number;
  overrides: Parameters<typeof findCard>[1];
  /** True when a cassette of this run has begun, which then continues. */
  recording?: boolean;
  warn(text: string): void;
};

/** Chooses the model. Throws `UsageError` for an unknown model and `StartError` when its key is missing. */
export async function chooseModel(choice: Choice): Promise<Model> {
  const name = choice.name ?? defaultName(choice.env);
  const slash = name.indexOf("/");
  const provider = slash < 0 && name.startsWith("claude-") ? "anthropic" : name.slice(0, Math.max(0, slash));
  const id = name.slice(slash + 1);
  const model = await make(provider, id, name, choice);
  const { record } = choice.flags;
  if (record === undefined) return model;
  if (!choice.recording) writeFile(record, () => writeFileSync(record, "", { mode: 0o600 }));
  return recording(model, (line) => appendFileSync(record, line.endsWith("\n") ? line : `${line}\n`));
}

async function make(provider: string, id: string, name: string, choice: Choice): Promise<Model> {
  const { flags, cwd, startAt } = choice;
  switch (provider) {
    case "anthropic":
      return withRetry(anthropic(cardOf(`anthropic/${id}`, choice), choice.env), {
        sleep: interruptibleSleep,
        random: Math.random,
      });
    case "openai":
      return withRetry(openai(cardOf(name, choice), choice.env), {
        sleep: interruptibleSleep,
        random: Math.random,
      });
    case "scripted": {
      const script = await parseScript(readText(id, cwd, "script"), id).catch((error: Error) => {
        throw new UsageError(error.message);
      });
      return scriptedModel({ card: scriptedCard(script), turns: script.turns, cwd, startAt });
    }
    case "recorded":
      return recordedModel({ cassette: readText(id, cwd, "cassette"), loose: flags.loose, fileName: id });
    default:
      throw new UsageError(
        `unknown model ${name}: name it as provider/id, such as anthropic/claude-sonnet-5-5, openai/gpt-6.1-sol or scripted/run.yaml`,
      );
  }
}

/**
 * Returns the models that may write summaries in place of `own`: those of its provider, on the provider's own host, as
 * other hosts may not have them. `wanted`: "auto", "own", or one model, used whatever it costs. Throws `UsageError`.
 */
export function summaryModels(own: ModelCard, wanted: string | undefined, choice: Choice): OtherModels {
  const [provider = ""] = own.id.split("/");
  const open = (card: ModelCard): Model =>
    withRetry(provider === "openai" ? openai(card, choice.env) : anthropic(card, choice.env), {
      sleep: interruptibleSleep,
      random: Math.random,
    });
  const always = wanted !== undefined && wanted !== "auto" && wanted !== "own";
  if (always && !wanted.startsWith(`${provider}/`))
    throw new UsageError(
      `summaryModel ${wanted}: must be "auto", "own" or a model of ${provider}, which this session talks to`,
    );
  if (always) return { cards: [cardOf(wanted, choice)], always, open };
  const isOffered = provider === "anthropic" || (provider === "openai" && !choice.env.OPENAI_BASE_URL);
  const cards = wanted === "own" || !isOffered || choice.flags.record !== undefined ? [] : listCards();
  const others = cards.filter(({ id }) => id.startsWith(`${provider}/`) && id !== own.id);
  return { cards: others.map(({ id }) => cardOf(id, choice)), always, open };
}

/** The encoder of the requests of a stored session; it needs no key. OpenAI's depend on the host of `env`. */
function encoderOf(card: ModelCard, env: Environment = process.env): Model["encode"] {
  const dialect = dialectOf(env.OPENAI_BASE_URL);
  if (card.id.startsWith("openai/")) return (request) => encodeOpenai(request, dialect);
  return card.id.startsWith("anthropic/") ? encodeAnthropic : JSON.stringify;
}

/** Encodes each request of a session as the model of its step does. */
export function encodingOf(events: readonly LogEvent[]): Model["encode"] {
  const cards = events.flatMap((event) =>
    "model" in event && typeof event.model === "object" ? [event.model] : [],
  );
  const { model } = currentModel(events);
  return (request) => encoderOf(cards.find((card) => card.id === request.model) ?? model)(request);
}

function defaultName(env: Environment): string {
  if (env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN) return "anthropic/claude-sonnet-5-5";
  if (env.OPENAI_API_KEY || env.OPENAI_BASE_URL)
    throw new UsageError("OPENAI_API_KEY or OPENAI_BASE_URL is set: name its model with --model openai/<id>");
  throw new StartError(
    "no credentials: set ANTHROPIC_API_KEY, store a key with sawtooth login, or name another model with --model",
    4,
  );
}

function cardOf(id: string, { overrides, warn }: Choice, warnUnknown = true): ModelCard {
  const { card, warning } = findCard(id, { overrides });
  if (warning && warnUnknown) warn(warning);
  return card;
}

function anthropic(card: ModelCard, env: Environment): Model {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL: baseUrl } = env;
  if (!apiKey && !authToken)
    throw new StartError(`no credentials for ${card.id}: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN`, 4);
  return anthropicModel({
    card,
    ...idleTime(env),
    ...(apiKey ? { apiKey } : {}),
    ...(authToken ? { authToken } : {}),
    ...(baseUrl ? { baseUrl } : {}),
    headers: headersOf(env.ANTHROPIC_CUSTOM_HEADERS ?? ""),
  });
}

/** Parses headers, one to a line as `Name: value`, for a gateway between us and the API. */
function headersOf(lines: string): Record<string, string> {
  const pairs = lines.split("\n").map((line) => /^\s*([^:]*?)\s*:(.*)$/s.exec(line));
  return Object.fromEntries(pairs.flatMap((pair) => (pair?.[1] ? [[pair[1], (pair[2] ?? "").trim()]] : [])));
}

function openai(card: ModelCard, env: Environment): Model {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl } = env;
  if (!apiKey && !baseUrl)
    throw new StartError(`no credentials for ${card.id}: set OPENAI_API_KEY or OPENAI_BASE_URL`, 4);
  return openaiModel({
    card,
    ...idleTime(env),
    ...(apiKey ? { apiKey } : {}),
    ...(baseUrl ? { baseUrl } : {}),
  });
}

function idleTime({ SAWTOOTH_IDLE_TIMEOUT: time }: Environment): { idleMs?: number } {
  return time ? { idleMs: duration("SAWTOOTH_IDLE_TIMEOUT", time) } : {};
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

async function interruptibleSleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {
    throw new ModelError("aborted", "stopped while waiting to try again");
  });
}
