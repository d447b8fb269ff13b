/** Signing in with a server: a page in the browser, and its way back to this machine, or pasted by hand. */

import { randomBytes } from "node:crypto";
import {
  Client,
  computeScopeUnion,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { type BrowserCallback, listenForBrowser } from "../../credentials/browser-callback.ts";
import { CredentialsError } from "../../credentials/owned-file.ts";
import type { HttpServer } from "../configuration.ts";
import { boundedFetch } from "../http/bounded-fetch.ts";
import { httpChannel } from "../http/http-channel.ts";
import { placesOf } from "../http/places.ts";
import { wordsOf } from "../sdk-errors.ts";
import {
  changeSignIn,
  clientOf,
  readSignIn,
  type SignInRecord,
  tokensOf,
  withSignIns,
  withTokens,
} from "./record.ts";

/** A sign-in that waits for its page. */
export type SigningIn = {
  /** The page to open in a browser. */
  url: string;
  /** Takes the address that the browser ended on; returns why it is not the one. */
  paste(address: string): string | undefined;
  /** Settles when the tokens are stored, or with why they are not: `CredentialsError`. */
  done: Promise<void>;
  /** Gives up. Idempotent. */
  cancel(): void;
};

export type LoginOptions = {
  server: HttpServer;
  /** The folder of credentials. */
  credentials: string;
  /** Ours. */
  version: string;
};

/** Milliseconds that a page may stay open, and for the first answer of the server. */
const limits = { page: 10 * 60_000, answer: 30_000, revoke: 5000 };
const callbackPath = "/callback";

/**
 * Begins a sign-in: asks the server where to sign in, and listens on 127.0.0.1. Returns "not_needed" for a server that
 * answers without. Throws `CredentialsError`.
 */
export async function beginLogin(options: LoginOptions): Promise<SigningIn | "not_needed"> {
  const { server, credentials, version } = options;
  const back = Promise.withResolvers<URLSearchParams>();
  back.promise.catch(() => undefined);
  const state = randomBytes(24).toString("base64url");
  const earlier = readSignIn(credentials, server) ?? {};
  const listener = await listening(server, earlier, (address) => taken(address, state, back));
  const attempt: Attempt = { record: recordFor(earlier, listener), url: undefined, verifier: "" };
  const channel = httpChannel(server, providerOf(attempt, server, { state, listener }));
  const client = new Client({ name: "sawtooth", version }, { versionNegotiation: { mode: "auto" } });
  client.onerror = () => {};
  const leave = async (): Promise<void> => {
    listener.close();
    await client.close().catch(() => {});
    await channel.end();
  };
  try {
    await client.connect(channel.transport, { timeout: limits.answer });
    await leave();
    return "not_needed";
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || attempt.url === undefined) {
      await leave();
      throw new CredentialsError(`the sign-in could not begin: the server ${wordsOf(error)}`);
    }
  }
  const timer = setTimeout(
    () => back.reject(new CredentialsError("nobody signed in within 10 minutes")),
    limits.page,
  );
  const done = back.promise
    .then(async (parameters) => {
      await channel.transport.finishAuth(parameters);
      await withSignIns(credentials, async () => changeSignIn(credentials, server, () => attempt.record));
    })
    .catch((error: unknown) => {
      if (error instanceof CredentialsError) throw error;
      throw new CredentialsError(`the sign-in ended without tokens: ${wordsOf(error)}`);
    })
    .finally(() => {
      clearTimeout(timer);
      return leave();
    });
  return {
    url: attempt.url.href,
    paste: listener.paste,
    done,
    cancel: () => back.reject(new CredentialsError("the sign-in was given up: nothing was stored")),
  };
}

/** Removes the tokens of a server, and ends them where it says how. Returns false when there were none. */
export async function logout({ server, credentials }: Omit<LoginOptions, "version">): Promise<boolean> {
  const record = readSignIn(credentials, server);
  if (!record?.secrets?.access) return false;
  await withSignIns(credentials, async () => changeSignIn(credentials, server, () => undefined));
  await revoke(server, record).catch(() => undefined);
  return true;
}

async function revoke(server: HttpServer, record: SignInRecord): Promise<void> {
  const metadata = record.discovery?.authorizationServerMetadata as Record<string, unknown> | undefined;
  const endpoint = metadata?.revocation_endpoint;
  const token = record.secrets?.refresh ?? record.secrets?.access;
  const client = clientOf(record, server.client);
  if (typeof endpoint !== "string" || !token || !client) return;
  const { client_id, client_secret } = client;
  await boundedFetch(placesOf(server.url))(endpoint, {
    method: "POST",
    body: new URLSearchParams({ token, client_id, ...(client_secret ? { client_secret } : {}) }),
    signal: AbortSignal.timeout(limits.revoke),
    redirect: "error",
  });
}

/** The port of the earlier registration, so that it can be used again; another one where that is taken. */
async function listening(
  { client }: HttpServer,
  { client: registered }: SignInRecord,
  take: (address: URL) => string | undefined,
): Promise<BrowserCallback> {
  if (client?.port !== undefined) return listenForBrowser(callbackPath, take, client.port);
  const port = registered?.redirectUri ? Number(new URL(registered.redirectUri).port) : 0;
  return listenForBrowser(callbackPath, take, port).catch(() => listenForBrowser(callbackPath, take));
}

/** A registration holds for the address that it was made with; what was discovered is asked for anew. */
function recordFor({ client, secrets, missing }: SignInRecord, listener: BrowserCallback): SignInRecord {
  const wanted = missing ? { missing } : {};
  if (client?.redirectUri !== listener.redirectUri) return wanted;
  return { ...wanted, client, ...(secrets?.client ? { secrets: { client: secrets.client } } : {}) };
}

type Attempt = { record: SignInRecord; url: URL | undefined; verifier: string };

function providerOf(
  attempt: Attempt,
  { client: own }: HttpServer,
  { state, listener }: { state: string; listener: BrowserCallback },
): OAuthClientProvider {
  const change = (part: Partial<SignInRecord>): void => {
    attempt.record = { ...attempt.record, ...part };
  };
  const { redirectUri } = listener;
  return {
    redirectUrl: redirectUri,
    clientMetadata: metadataOf(redirectUri, own),
    state: () => state,
    clientInformation: () => clientOf(attempt.record, own),
    saveClientInformation({ client_secret, ...client }) {
      if (own?.id) return;
      change({ client: { ...client, redirectUri }, secrets: client_secret ? { client: client_secret } : {} });
    },
    // What a sign-in begins with is never what is stored.
    tokens: () => tokensOf(attempt.record),
    saveTokens(tokens) {
      attempt.record = withTokens(attempt.record, tokens);
    },
    redirectToAuthorization(url) {
      const scope = computeScopeUnion(
        url.searchParams.get("scope") ?? undefined,
        own?.scope,
        attempt.record.missing,
      );
      if (scope) url.searchParams.set("scope", scope);
      attempt.url = url;
    },
    saveCodeVerifier(verifier) {
      attempt.verifier = verifier;
    },
    codeVerifier: () => attempt.verifier,
    saveDiscoveryState: (discovery) => change({ discovery }),
    discoveryState: () => attempt.record.discovery,
    saveResourceUrl: (resource) => change({ resource }),
  };
}

function metadataOf(redirectUri: string, own: HttpServer["client"]): OAuthClientMetadata {
  return {
    client_name: "Sawtooth",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: own?.secret ? "client_secret_post" : "none",
    ...(own?.scope ? { scope: own.scope } : {}),
  };
}

/** Takes an address of the callback; returns why it is not this sign-in's, which then goes on waiting. */
function taken(
  { searchParams }: URL,
  state: string,
  back: PromiseWithResolvers<URLSearchParams>,
): string | undefined {
  const names = [...searchParams.keys()];
  const isWhole = names.includes("code") || names.includes("error");
  if (!isWhole || new Set(names).size < names.length || searchParams.get("state") !== state)
    return "This is not the answer to this sign-in.";
  back.resolve(searchParams);
  return undefined;
}
