/** Where the requests of a provider go, and with which key: what the environment says about a row of the table. */

import type { ModelCard } from "../core/model-card.ts";
import type { Provider } from "./providers.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** `variable`: holds the key. `isOwnHost`: nobody named another base URL. */
export type Access = { url: string; isOwnHost: boolean; key?: string; variable?: string };

/** Returns the base URL and the key; either may be missing (`missingOf`). A URL without a path gets `/v1` when sent. */
export function accessOf(row: Provider, env: Environment): Access {
  const own = ownUrl(row, env);
  const variable = row.keys.find((name) => env[name]);
  const key = variable && env[variable];
  return {
    url: own ?? usualUrl(row, env),
    isOwnHost: own === undefined,
    ...(variable && key ? { key, variable } : {}),
  };
}

/**
 * The row as it is spoken to: of the hosts that stand in for OpenAI most speak chat completions alone. `stored`: the card
 * of a session that was answered; another API would change all that was sent.
 */
export function spokenRow(row: Provider, env: Environment, stored?: ModelCard): Provider {
  if (row.wire !== "responses") return row;
  const { url } = accessOf(row, env);
  const isForeign = row.name === "openai" && !/^https:\/\/api\.openai\.com(\/|$)/.test(url);
  const isOlder = stored !== undefined && stored.api !== "responses";
  return isForeign || isOlder ? { ...row, wire: "chat", contract: "automatic" } : row;
}

/** Returns the name of the variable that holds another base URL. */
export function urlVariableOf({ name, urlVariable }: Provider): string {
  return urlVariable ?? `${name.toUpperCase().replace(/\W/g, "_")}_BASE_URL`;
}

function ownUrl(row: Provider, env: Environment): string | undefined {
  const url = env[urlVariableOf(row)];
  if (url) return url;
  // Ollama's own variable: a host, as a rule without a scheme, and 0.0.0.0 where it listens everywhere.
  const host = row.name === "ollama" ? env.OLLAMA_HOST : undefined;
  if (!host) return undefined;
  // `:8080` is a port of this machine; without a scheme the port is Ollama's own.
  const bare = /^https?:\/\//.test(host) ? host : `http://${host.replace(/^(?=:|$)/, "127.0.0.1")}`;
  if (!URL.canParse(bare)) return host;
  const whole = new URL(bare);
  if (whole.hostname === "0.0.0.0") whole.hostname = "127.0.0.1";
  if (!whole.port && bare !== host && !/:\d+\/?$/.test(host)) whole.port = "11434";
  return `${whole.origin}/v1`;
}

/** Google's hosts for groups of regions have names of their own. */
const groupHosts: Record<string, string> = {
  global: "https://aiplatform.googleapis.com/v1",
  us: "https://aiplatform.us.rep.googleapis.com/v1",
  eu: "https://aiplatform.eu.rep.googleapis.com/v1",
};

function usualUrl({ url, signer }: Provider, env: Environment): string {
  const region = regionOf(signer, env) ?? "";
  return (signer === "google" && groupHosts[region]) || url.replace("{region}", region);
}

/** Returns true for an address on this machine, whose models cost nothing. */
export function isOnThisMachine(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}

/** Returns the region of a cloud; undefined where none is set. */
export function regionOf(signer: Provider["signer"], env: Environment): string | undefined {
  if (signer === "google") return env.CLOUD_ML_REGION || undefined;
  return env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined;
}

/** Says what must be set before the provider can be used, in a few words; undefined when nothing is missing. */
export function missingOf(row: Provider, env: Environment): string | undefined {
  if (row.signer && !regionOf(row.signer, env))
    return `set ${row.signer === "google" ? "CLOUD_ML_REGION and ANTHROPIC_VERTEX_PROJECT_ID" : "AWS_REGION"}`;
  if (row.signer === "google" && !env.ANTHROPIC_VERTEX_PROJECT_ID) return "set ANTHROPIC_VERTEX_PROJECT_ID";
  if (row.signer || row.local || row.keys.length === 0) return undefined;
  const { key, isOwnHost } = accessOf(row, env);
  if (row.plan) return key ? undefined : "sign in with sawtooth login chatgpt";
  // A server of one's own may ask for no key.
  if (key || (row.wire !== "messages" && !isOwnHost)) return undefined;
  const names = row.keys.join(" or ");
  return row.name === "openai" ? `set ${names}, or OPENAI_BASE_URL for another server` : `set ${names}`;
}
