/** Rows of the table of providers that the settings add or change. Pure. */

import type { JsonSchema } from "../core/request.ts";
import { closedObject, violations } from "../core/schema.ts";
import { type Asking, type Provider, providers, type Wire } from "./providers.ts";

const wires = ["messages", "chat", "responses"] as const;
/** Contracts of models without a card, by wire: what every host that speaks it accepts. */
const contracts = {
  messages: "claude_unknown",
  chat: "automatic",
  responses: "responses_automatic",
} as const;

/** A row of the settings: of a new provider, or what differs from a known one. */
type OwnProvider = { wire?: Wire; url?: string; key?: string; asks?: Asking };

const schema: JsonSchema = {
  type: "object",
  additionalProperties: closedObject({
    wire: { enum: [...wires] },
    url: { type: "string" },
    key: { type: "string" },
    asks: { enum: ["ollama", "lmstudio", "llamacpp", "models"] },
  }),
};

/** The key `providers` of the settings, as `ownProviderProblem` has found it good. */
export type OwnProviders = Readonly<Record<string, unknown>> | undefined;

/** Adds the rows of the settings to the table. */
export function providersWith(rows: OwnProviders): Provider[] {
  const own = (rows ?? {}) as Readonly<Record<string, OwnProvider>>;
  const known = providers.map((row) => (own[row.name] ? changed(row, own[row.name] ?? {}) : row));
  const added = Object.entries(own).filter(([name]) => !providers.some((row) => row.name === name));
  return [...known, ...added.map(([name, row]) => changed(blank(name), row))];
}

function blank(name: string): Provider {
  return {
    name,
    title: name,
    wire: "chat",
    contract: "automatic",
    url: "",
    keys: [],
    borrows: true,
    asks: "models",
  };
}

function changed(row: Provider, { wire, url, key, asks }: OwnProvider): Provider {
  return {
    ...row,
    ...(wire ? { wire, contract: contracts[wire] } : {}),
    ...(url ? { url } : {}),
    ...(key ? { keys: [key] } : {}),
    ...(asks ? { asks } : {}),
  };
}

/** Says why the rows of the settings make no sense, naming the key; undefined when they do. */
export function ownProviderProblem(rows: OwnProviders = {}): string | undefined {
  const [wrong] = violations(schema, rows, "providers");
  if (wrong) return wrong;
  for (const [name, { wire, url, key }] of Object.entries(rows as Record<string, OwnProvider>)) {
    const at = `providers.${name}`;
    const isNew = !providers.some((row) => row.name === name);
    if (!/^[a-z][a-z0-9_-]*$/.test(name)) return `${at}: a name is lower-case letters, digits, - and _`;
    if (isNew && !wire) return `${at}.wire is missing: it must be one of ${wires.join(", ")}`;
    if (isNew && !url) return `${at}.url is missing: the base URL of the API, such as https://host/v1`;
    if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ""))
      return `${at}.url ${url}: must be a URL that begins with http:// or https://`;
    if (key !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(key))
      return `${at}.key: must be the name of the environment variable that holds the key, not the key`;
  }
  return undefined;
}
