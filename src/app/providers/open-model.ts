/** Opens a model of a provider of the table: its wire, its address, its key. */

import { setTimeout as delay } from "node:timers/promises";
import { duration } from "../../config/values.ts";
import { NoModel, StartError } from "../../core/errors.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { type Model, ModelError } from "../../core/ports.ts";
import { providerOfKey } from "../../credentials/forms.ts";
import { type Access, accessOf, type Environment, missingOf, regionOf } from "../../models/access.ts";
import { anthropicModel } from "../../models/anthropic/anthropic.ts";
import type { Cloud } from "../../models/anthropic/encoding.ts";
import { explained } from "../../models/http/explained.ts";
import { withRetry } from "../../models/http/retry.ts";
import { type Provider, splitName } from "../../models/providers.ts";
import type { Server } from "../../models/servers/ask.ts";
import type { Sign } from "../../models/signers/signer.ts";

/** Throws `StartError` when something is missing, or the key is another provider's: it is then sent to nobody. */
export function checkUsable(row: Provider, id: string, env: Environment): void {
  const missing = missingOf(row, env);
  if (missing) throw new NoModel(`no credentials for ${id}: ${missing}`, 4, row.name);
  const { key, variable, isOwnHost } = accessOf(row, env);
  const owner = key && isOwnHost ? providerOfKey(key) : undefined;
  if (owner === undefined || owner === row.name) return;
  throw new StartError(
    `${variable} has the form of a key of ${owner}, so it was not sent to ${row.name}: set ${variable} to a key of ${row.name}, or name a model of ${owner} as ${owner}/<id> with this key`,
    4,
  );
}

/** Returns the model, which tries again after passing failures. Of the wires only the one it speaks is loaded, and Messages, the usual one, with every run. */
export async function openModel(row: Provider, card: ModelCard, env: Environment): Promise<Model> {
  const access = accessOf(row, env);
  const model = await wireModel(row, card, access, env);
  const guarded = row.asks === "ollama" ? uncut(model, { ...access, asks: row.asks }) : model;
  const retried = withRetry(guarded, { sleep: interruptibleSleep, random: Math.random });
  return explained(retried, { row, access });
}

/** Refuses what Ollama would cut. Its window is looked at once, before the first request. */
function uncut(model: Model, server: Server): Model {
  let window: Promise<number | undefined> | undefined;
  return {
    ...model,
    async send(request, body, onPart, signal) {
      const { loadedWindow, refuseCut } = await import("../../models/servers/ollama.ts");
      window ??= loadedWindow(server, splitName(model.card.id).id, signal);
      refuseCut(body, (await window) ?? Number.POSITIVE_INFINITY);
      return model.send(request, body, onPart, signal);
    },
  };
}

/** Returns the encoder of the requests to a model, which needs no key. */
export async function encoderOf(row: Provider, card: ModelCard, env: Environment): Promise<Model["encode"]> {
  return (await wireModel(row, card, accessOf(row, env), env)).encode;
}

/** Over Responses only a card goes that says so. */
async function wireModel(row: Provider, card: ModelCard, access: Access, env: Environment): Promise<Model> {
  if (row.wire === "messages") return messages(row, card, access, env);
  const { url, key } = access;
  const options = { card, baseUrl: url, ...idleTime(env), ...(key ? { apiKey: key } : {}) };
  if (card.api === "responses") {
    const { responsesModel } = await import("../../models/responses/responses.ts");
    if (!row.plan) return responsesModel(options);
    const { planModel } = await import("./plan-model.ts");
    return planModel((apiKey) => responsesModel({ ...options, apiKey, plan: true }), key ?? "", env);
  }
  return (await import("../../models/openai/openai.ts")).openaiModel(options);
}

function messages(row: Provider, card: ModelCard, { url, key, variable }: Access, env: Environment): Model {
  const named = variable?.endsWith("_AUTH_TOKEN") ? { authToken: key } : { apiKey: key };
  return anthropicModel({
    ...{ card, baseUrl: url, keyless: row.keys.length === 0, ...idleTime(env) },
    ...(key ? (named as { apiKey: string }) : {}),
    ...(row.signer ? cloudOptions(row.signer, { url, env, id: splitName(card.id).id, isSigned: !key }) : {}),
    headers: row.name === "anthropic" ? headersOf(env.ANTHROPIC_CUSTOM_HEADERS ?? "") : {},
  });
}

type CloudAccess = { url: string; env: Environment; id: string; isSigned: boolean };

/** The vendor's package is loaded when the first request is signed. A bearer token needs none. */
function cloudOptions(cloud: Cloud, { url, env, id, isSigned }: CloudAccess) {
  const region = regionOf(cloud, env) ?? "";
  const signer = once(async () =>
    cloud === "aws"
      ? (await import("../../models/signers/aws.ts")).signAws(env, region)
      : (await import("../../models/signers/google.ts")).signGoogle(),
  );
  const sign: Sign = async (request) => (await signer())(request);
  const project = `projects/${env.ANTHROPIC_VERTEX_PROJECT_ID}/locations/${region}`;
  const endpoint = `${url}/${project}/publishers/anthropic/models/${encodeURIComponent(id)}:streamRawPredict`;
  return { cloud, ...(isSigned ? { sign } : {}), ...(cloud === "google" ? { endpoint } : {}) };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Parses headers, one to a line as `Name: value`, for a gateway between us and the API. */
function headersOf(lines: string): Record<string, string> {
  const pairs = lines.split("\n").map((line) => /^\s*([^:]*?)\s*:(.*)$/s.exec(line));
  return Object.fromEntries(pairs.flatMap((pair) => (pair?.[1] ? [[pair[1], (pair[2] ?? "").trim()]] : [])));
}

function idleTime({ SAWTOOTH_IDLE_TIMEOUT: time }: Environment): { idleMs?: number } {
  return time ? { idleMs: duration("SAWTOOTH_IDLE_TIMEOUT", time) } : {};
}

async function interruptibleSleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {
    throw new ModelError("aborted", "stopped while waiting to try again");
  });
}
