/** The stored sign-ins with servers: one file that only its owner reads, by name and address of the server. */

import { join } from "node:path";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { readOwned, writeOwned } from "../../credentials/owned-file.ts";
import { inTurn } from "../../credentials/turns.ts";
import type { HttpServer } from "../configuration.ts";

/** A server that a person signs in with. */
export type Who = Pick<HttpServer, "name" | "url">;

/** All that is known of a sign-in. What is secret stands in `secrets`, which nothing of ours ever shows. */
export type SignInRecord = {
  /** The registered client, without its secret. `redirectUri`: the address that was registered. */
  client?: Omit<StoredOAuthClientInformation, "client_secret"> & { redirectUri?: string };
  discovery?: OAuthDiscoveryState;
  /** The resource that the tokens are for. */
  resource?: string;
  /** The tokens' facts; `expires`: milliseconds since 1970. */
  granted?: Omit<StoredOAuthTokens, "access_token" | "refresh_token"> & { expires?: number };
  /** Scopes that the server asked for after the sign-in. */
  missing?: string;
  secrets?: { access?: string; refresh?: string; client?: string };
};

function fileIn(credentials: string): string {
  return join(credentials, "mcp.json");
}

function keyOf({ name, url }: Who): string {
  return `${name} ${url}`;
}

/** Returns the record; undefined when there is none. Throws `CredentialsError`. */
export function readSignIn(credentials: string, who: Who): SignInRecord | undefined {
  const found = readOwned(fileIn(credentials), () => {})?.[keyOf(who)];
  return typeof found === "object" && found !== null ? (found as SignInRecord) : undefined;
}

/** Changes a record, one process at a time; undefined removes it. Throws `CredentialsError`. */
export function changeSignIn(
  credentials: string,
  who: Who,
  change: (record: SignInRecord) => SignInRecord | undefined,
): void {
  const { [keyOf(who)]: before, ...others } = readOwned(fileIn(credentials), () => {}) ?? {};
  const after = change((before ?? {}) as SignInRecord);
  writeOwned(fileIn(credentials), after ? { ...others, [keyOf(who)]: after } : others);
}

/** Runs `work` once no other process changes a sign-in. Throws `CredentialsError` after 30 seconds. */
export function withSignIns<T>(credentials: string, work: () => Promise<T>): Promise<T> {
  return inTurn(credentials, work);
}

/** Returns the tokens as the SDK has them. */
export function tokensOf({ granted, secrets }: SignInRecord): StoredOAuthTokens | undefined {
  if (!secrets?.access) return undefined;
  const { expires: _, ...facts } = granted ?? { token_type: "Bearer" };
  return {
    ...facts,
    access_token: secrets.access,
    ...(secrets.refresh ? { refresh_token: secrets.refresh } : {}),
  };
}

/** Returns the record with these tokens. A refresh token stays where no new one came. */
export function withTokens(record: SignInRecord, tokens: StoredOAuthTokens): SignInRecord {
  const { access_token: access, refresh_token: refresh = record.secrets?.refresh, ...granted } = tokens;
  const { missing: _, ...rest } = record;
  const seconds = granted.expires_in;
  return {
    ...rest,
    granted: { ...granted, ...(seconds === undefined ? {} : { expires: Date.now() + seconds * 1000 }) },
    secrets: { ...record.secrets, access, ...(refresh ? { refresh } : {}) },
  };
}

/** Returns the client as the SDK has it, the person's own before a registered one. */
export function clientOf(
  { client, secrets }: SignInRecord,
  own: HttpServer["client"],
): StoredOAuthClientInformation | undefined {
  if (own?.id) return { client_id: own.id, ...(own.secret ? { client_secret: own.secret } : {}) };
  if (!client) return undefined;
  const { redirectUri: _, ...facts } = client;
  return { ...facts, ...(secrets?.client ? { client_secret: secrets.client } : {}) };
}
