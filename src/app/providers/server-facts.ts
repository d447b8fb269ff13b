/** Facts of a model as its server tells them, beside the start: 300 ms at most, the last answer kept in the state folder. */

import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { folders } from "../../config/folders.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { similar } from "../../core/text/nearest.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import { accessOf, type Environment } from "../../models/access.ts";
import type { ToldFacts } from "../../models/cards.ts";
import { type Provider, splitName } from "../../models/providers.ts";
import { askServer, type Told } from "../../models/servers/ask.ts";
import { smallWindow } from "./known.ts";

/** The longest that a start waits, in milliseconds. */
const longestWaitMs = 300;
/** A wait is many short ones: how long a busy machine kept this process from reading the answer counts little. */
const tickMs = 20;
/** How long an answer is waited for in the background, for the next start. */
const givenUpMs = 10_000;
/** Windows and prices of a provider on the net are asked for once a day; those of a server on this machine each time. */
const freshMs = 86_400_000;

type Kept = Record<string, { at: number; models: Told }>;
export type ServerFacts = {
  facts: ToldFacts | undefined;
  /** The server cannot be reached, which the request will tell. */
  isAbsent: boolean;
  /** Returns what a person should know of the model before it works, one sentence each. */
  notes(card: ModelCard): string[];
};

/** Asks the server of `provider/id`. Never throws: a server that does not answer tells nothing. */
export async function serverFacts(row: Provider, id: string, env: Environment): Promise<ServerFacts> {
  const { url } = accessOf(row, env);
  const model = splitName(id).id;
  const file = join(folders(env).state, "servers.json");
  const kept = readKept(file)[url];
  const isFresh = !row.local && kept !== undefined && Date.now() - kept.at < freshMs && kept.models[model];
  let isAbsent = false;
  const onAbsent = () => {
    isAbsent = true;
  };
  const told = isFresh
    ? kept.models
    : await askWithin(row, env, { model, file, waitMs: longestWaitMs, onAbsent });
  const facts = withoutLoading(told?.[model]) ?? withoutLoading(kept?.models[model]);
  return { facts, isAbsent, notes: (card) => notesOn(card, row, told) };
}

/** `onAbsent`: called when the server cannot be reached. */
type Question = { model?: string; file: string; waitMs: number; onAbsent?: () => void };

/** Returns the answer; undefined when it does not come in time, and is then kept for the next start. */
export async function askWithin(
  row: Provider,
  env: Environment,
  { model, file, waitMs, onAbsent }: Question,
): Promise<Told | undefined> {
  const { url, key } = accessOf(row, env);
  if (!row.asks || !URL.canParse(url)) return undefined;
  const answer = askServer({ url, key, asks: row.asks }, model, AbortSignal.timeout(givenUpMs)).then(
    (models) => {
      keep(file, url, models);
      return models;
    },
    (error: Error) => {
      if (isUnreachable(error)) onAbsent?.();
      return undefined;
    },
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    const wait = (leftMs: number): void => {
      if (leftMs <= 0) resolve(undefined);
      else timer = setTimeout(wait, tickMs, leftMs - tickMs);
    };
    wait(waitMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function isUnreachable(error: NodeJS.ErrnoException): boolean {
  const { code } = (error.cause as NodeJS.ErrnoException | undefined) ?? error;
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code ?? "");
}

function readKept(file: string): Kept {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Kept;
  } catch {
    return {};
  }
}

/**
 * A window that was told once holds until the server tells another: a model that is not loaded now has none. The same
 * answer is not written again before it is old, as writing takes longer than asking.
 */
function keep(file: string, url: string, told: Told): void {
  const all = readKept(file);
  const before = all[url];
  const facts = Object.entries(told).map(([id, one]) => [
    id,
    one.loading ? { ...before?.models[id], ...one } : one,
  ]);
  const models = Object.fromEntries(facts) as Told;
  const isSame = JSON.stringify(models) === JSON.stringify(before?.models);
  if (before && isSame && Date.now() - before.at < freshMs) return;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    replaceFile(file, JSON.stringify({ ...all, [url]: { at: Date.now(), models } }));
  } catch {
    // Without a place to keep it, it is asked again.
  }
}

function withoutLoading(told: Told[string] | undefined): ToldFacts | undefined {
  if (!told) return undefined;
  const { loading: _, ...facts } = told;
  return Object.keys(facts).length > 0 ? facts : undefined;
}

function notesOn(card: ModelCard, row: Provider, told: Told | undefined): string[] {
  const { provider, id } = splitName(card.id);
  const names = Object.keys(told ?? {});
  if (told && names.length > 0 && !told[id]) {
    const meant = similar(id, names) ?? names[0];
    const get = row.asks === "ollama" ? `, or get it with: ollama pull ${id}` : "";
    return [`${provider} has no model ${id} now: did you mean ${provider}/${meant}?${get}`];
  }
  if (told?.[id]?.loading && !withoutLoading(told[id]) && card.window >= smallWindow)
    return [`${card.id} is not loaded yet: its window is known only then. ${widening(row, id)}`];
  if (card.window >= smallWindow || !row.asks) return [];
  return [
    `${card.id} holds only ${formatInteger(card.window)} tokens: long files and outputs are cut short, and steps are forgotten soon; from ${formatInteger(smallWindow)} on it works well. ${widening(row, id)}`,
  ];
}

/** Says how the server gets a larger window. */
function widening({ asks, local }: Provider, id: string): string {
  if (asks === "ollama")
    return "Ollama gives 4,096 tokens on most machines, and cuts longer prompts without a word. To mend it: OLLAMA_CONTEXT_LENGTH=65536 ollama serve";
  if (asks === "lmstudio") return `To mend it: lms load ${id} --context-length 32768`;
  if (asks === "llamacpp") return "To mend it: llama-server -c 32768";
  return local ? "To mend it: vllm serve --max-model-len 32768" : "Choose a model with more";
}
