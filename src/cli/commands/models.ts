/** `sawtooth models [search]`: lists the models that can be used now, or every known one that a search finds. */

import { join } from "node:path";
import { checkSettings } from "../../app/choices.ts";
import { findProviders, type ProviderState, type Way } from "../../app/providers/found.ts";
import { folders } from "../../config/folders.ts";
import { readSettings } from "../../config/settings.ts";
import { formatTokens } from "../../context/report/amounts.ts";
import { UsageError } from "../../core/errors.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { similar } from "../../core/text/nearest.ts";
import { wrap } from "../../report/text/columns.ts";
import type { FlagsOf } from "../arguments/options.ts";

/** How long servers are waited for, in milliseconds: a person waits here for nothing else. */
const waitMs = 2000;
/** Longer lists of one provider are cut, as a search shows the rest. */
const mostListed = 40;

/** Returns the output: text, or one JSON object. Throws `UsageError` and `SettingsError`. */
export async function modelsOutput(
  operands: readonly string[],
  flags: FlagsOf<"models">,
  { env, warn }: { env: Record<string, string | undefined>; warn(text: string): void },
): Promise<string> {
  if (flags.outputFormat === "stream-json")
    throw new UsageError("models writes text or json: --output-format json");
  const file = join(folders(env).config, "settings.json");
  const settings = flags.bare ? {} : readSettings(file);
  checkSettings(settings, file);
  const states = await findProviders({ flags, env, settings, warn, waitMs });
  const words = operands.join(" ").toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? states.filter(({ way }) => way) : matching(states, words);
  if (flags.outputFormat === "json") return `${JSON.stringify({ providers: found.map(asJson) })}\n`;
  if (words.length > 0 && found.length === 0) throw new UsageError(nothingFound(words.join(" "), states));
  const rest = words.length === 0 ? unusableText(states) : "";
  return `${[...found.map((state) => stateText(state, words.length > 0)), rest].filter(Boolean).join("\n\n")}\n`;
}

/** Keeps the models whose name holds every word; of a provider that is named so, all. */
function matching(states: readonly ProviderState[], words: readonly string[]): ProviderState[] {
  return states.flatMap((state) => {
    const whole = words.length === 1 && state.row.name === words[0];
    const models = state.models.filter(
      ({ id }) => whole || words.every((word) => id.toLowerCase().includes(word)),
    );
    return whole || models.length > 0 ? [{ ...state, models }] : [];
  });
}

function nothingFound(words: string, states: readonly ProviderState[]): string {
  const ids = states.flatMap(({ row, models }) => [row.name, ...models.map(({ id }) => id)]);
  const bare = (id: string) => id.slice(id.indexOf("/") + 1);
  const meant = similar(words, ids) ?? ids.find((id) => bare(id) === similar(words, ids.map(bare)));
  return `no known model matches ${words}${meant ? `: did you mean ${meant}?` : ""} A model that is not known works too, as provider/id`;
}

function stateText({ row, way, missing, models }: ProviderState, all: boolean): string {
  const head = `${row.title} (${row.name}/…): ${way ? wayText(way) : `not usable now: ${missing}`}`;
  const shown = all ? models : models.slice(0, mostListed);
  const width = Math.max(0, ...shown.map(({ id }) => id.length));
  const more = models.length - shown.length;
  return [
    cleanLine(head),
    ...shown.map((card) => modelLine(card, width)),
    ...(models.length === 0 ? [`  any model, as ${row.name}/<id>`] : []),
    ...(more > 0 ? [`  and ${more} more: sawtooth models ${row.name} lists them`] : []),
  ].join("\n");
}

function wayText(way: Way): string {
  switch (way.by) {
    case "variable":
      return `key in ${way.variable}`;
    case "sign_in":
      return "signed in";
    case "stored_key":
      return "stored key";
    case "server":
      return `answers at ${way.url}`;
    case "cloud":
      return "signs with the credentials of its command-line tools";
    case "no_key_needed":
      return `no key is needed at ${way.url}`;
  }
}

function modelLine(card: ModelCard, width: number): string {
  const { prices, window, contract } = card;
  const price =
    prices.output > 0
      ? `$${prices.input} in, $${prices.output} out, $${prices.cacheRead} cached`
      : "no price is known";
  const history = contract.history === "prefix_bound" ? "bound" : "free";
  return `  ${cleanLine(card.id).padEnd(width)}  ${formatTokens(window).padStart(4)}  ${price.padEnd(36)}  ${history} history, ${contract.cache.kind} cache`;
}

/** Says what the other providers need, in as few lines as it takes. */
function unusableText(states: readonly ProviderState[]): string {
  const needs = states.flatMap(({ row, way, missing }) =>
    way || row.local ? [] : [`${row.name} (${missing})`],
  );
  const silent = states.flatMap(({ row, way }) => (!way && row.local ? [row.name] : []));
  const text = [
    ...(needs.length > 0 ? [`Not usable now: ${needs.join(", ")}.`] : []),
    ...(silent.length > 0 ? [`No server answers of ${silent.join(", ")}.`] : []),
    "sawtooth models <search> looks through all known models.",
  ].join(" ");
  return wrap(text, 100).join("\n");
}

function asJson({ row, way, missing, models }: ProviderState): object {
  return {
    ...{ provider: row.name, wire: row.wire, usable: way !== undefined },
    ...(way ? { found: way } : { missing }),
    models: models.map(({ id, window, maxOutput, prices, contract }) => ({
      ...{ id, window, max_output: maxOutput, prices, contract },
    })),
  };
}
