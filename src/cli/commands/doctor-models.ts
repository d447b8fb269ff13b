/** The checks of `sawtooth doctor` on models: keys, servers, windows, and the age of what is known of them. */

import { connect } from "node:net";
import { join } from "node:path";
import { checkSettings } from "../../app/choices.ts";
import { noSearch, webSearchOf } from "../../app/opening/web-search.ts";
import { findProviders, type ProviderState } from "../../app/providers/found.ts";
import { cardAge, providerUrl, smallWindow } from "../../app/providers/known.ts";
import { folders } from "../../config/folders.ts";
import { readSettings, type Settings } from "../../config/settings.ts";
import { mostBlocked } from "../../context/request/compose.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { formatInteger } from "../../core/text/clean-text.ts";

/** A check. `stops`: nothing works without it. `advice`: what to do. */
export type Check = { name: string; state: "ok" | "note" | "stops"; says: string; advice?: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** How long a server on this machine is waited for, in milliseconds. */
const askMs = 1000;
/** Days after which figures of models are told to be old. */
const oldDays = 90;

/** Runs the checks. Nothing is sent to a provider on the net but the opening of a connection. */
export async function modelChecks(env: Environment, now = Date.now()): Promise<Check[]> {
  const warnings: string[] = [];
  const settings = settingsOf(env);
  const states = await findProviders({
    ...{ flags: { bare: false }, env: { ...env }, settings, waitMs: askMs, localOnly: true },
    warn: (text) => void warnings.push(text),
  });
  const found = states.filter(({ way }) => way);
  const named = found.filter(({ row }) => !row.local);
  const reached = await Promise.all(named.map((state) => reachCheck(providerUrl(state.row, env))));
  return [
    keyCheck(found),
    ...warnings.map((says): Check => ({ name: "keys", state: "note", says })),
    ...reached,
    ...found.filter(({ row }) => row.local).map(serverCheck),
    ...searchCheck(settings, found),
    ...ageCheck(now),
  ];
}

/** Broken settings have a check of their own. */
function settingsOf(env: Environment): Settings {
  try {
    const file = join(folders(env).config, "settings.json");
    const settings = readSettings(file);
    checkSettings(settings, file);
    return settings;
  } catch {
    return {};
  }
}

/** Lists names only, never values. */
function keyCheck(found: readonly ProviderState[]): Check {
  const names = found.flatMap(({ row, way }) => {
    if (way?.by === "variable") return [way.variable];
    if (way?.by === "stored_key") return [`stored key of ${row.name}`];
    if (way?.by === "no_key_needed") return [way.variable ?? row.name];
    return way?.by === "server" ? [] : [row.name];
  });
  if (names.length > 0) return { name: "keys", state: "ok", says: names.join(", ") };
  if (found.length > 0)
    return { name: "keys", state: "ok", says: "none is set; a server on this machine needs none" };
  const advice = "set ANTHROPIC_API_KEY; sawtooth demo works without one";
  return { name: "keys", state: "stops", says: "none is set", advice };
}

/** Names the models of a server on this machine with their windows. */
function serverCheck({ row, models }: ProviderState): Check {
  const small = models.some(({ window }) => window < smallWindow);
  const listed = models
    .slice(0, 5)
    .map(({ id, window }) => `${id.slice(row.name.length + 1)} ${formatInteger(window)} tokens`);
  const more = models.length > 5 ? `, and ${models.length - 5} more` : "";
  const says = `${row.name} answers: ${listed.join(", ") || "it has no model"}${more}`;
  if (!small) return { name: "server", state: "ok", says };
  return {
    name: "server",
    state: "note",
    says,
    advice: `windows below ${formatInteger(smallWindow)} tokens hold little: see docs/models.md for the line that widens them`,
  };
}

/** Says whether the models that can be used have the web search that the settings turn on. */
function searchCheck(settings: Settings, found: readonly ProviderState[]): Check[] {
  const { webSearch, model, deny = [] } = settings;
  if (!webSearch || !webSearchOf(settings, deny)) return [];
  const searching = found.filter(({ models }) => models.some((card) => !noSearch(card, settings, deny)));
  const names = searching.map(({ row }) => row.title).join(", ");
  const isOf = (name: string) => model === undefined || !model.includes("/") || model.startsWith(`${name}/`);
  const fits = searching.some(({ row }) => isOf(row.name));
  if (fits) return [{ name: "web search", state: "ok", says: `on, with the models of ${names}` }];
  const isKnown = ({ prices }: ModelCard) => prices.webSearch !== undefined;
  const tooMany = found.some(({ row, models }) => isOf(row.name) && models.some(isKnown));
  const says = `webSearch in settings has no effect with ${model ?? "the models that can be used"}`;
  return [
    {
      name: "web search",
      state: "note",
      says,
      advice: tooMany
        ? `deny at most ${mostBlocked} domains, or use a Claude model of Anthropic`
        : "use a Claude model of Anthropic or an OpenAI model at api.openai.com, or an MCP server that searches",
    },
  ];
}

function ageCheck(now: number): Check[] {
  const { days, date } = cardAge(now);
  if (days <= oldDays) return [];
  const says = `prices and windows of models are of ${date}, ${days} days ago`;
  return [
    { name: "models", state: "note", says, advice: "update Sawtooth, or set them in models in settings" },
  ];
}

type Server = { url: string; from: string };

const reachMs = 2000;

/** Opens a connection without sending anything. */
async function reachCheck({ url, from }: Server): Promise<Check> {
  if (!URL.canParse(url))
    return { name: "server", state: "stops", says: "the address is not a URL", advice: `correct ${from}` };
  const { hostname, port, protocol, host } = new URL(url);
  const failure = await connecting(
    hostname.replace(/^\[|\]$/g, ""),
    Number(port) || (protocol === "http:" ? 80 : 443),
  );
  if (failure === undefined) return { name: "server", state: "ok", says: `${host} is reachable` };
  const advice = `check the network, or ${from}`;
  return { name: "server", state: "stops", says: `${host} is not reachable (${failure})`, advice };
}

/** Returns the failure; undefined when connected. */
function connecting(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (failure?: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(failure);
    };
    const timer = setTimeout(() => done(`no answer in ${reachMs / 1000} s`), reachMs);
    socket.once("connect", () => done());
    socket.once("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
  });
}
