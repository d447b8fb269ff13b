/** The requests to the issuer: a code or a refresh token for new tokens, and their end. */

import * as oauth from "oauth4webapi";
import { CredentialsError } from "../owned-file.ts";
import { isOwnMachine, planScope, resource, serverOf } from "./issuer.ts";
import type { Tokens } from "./stored.ts";

/** Milliseconds for one request. */
const patienceMs = 15_000;

/** The issuer refuses a grant for good; `code` is its error. Exit code 4. */
export class GrantRefused extends CredentialsError {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function optionsFor(issuer: string, signal: AbortSignal | undefined) {
  const limit = AbortSignal.timeout(patienceMs);
  return {
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    [oauth.allowInsecureRequests]: isOwnMachine(issuer),
  };
}

export type Exchange = {
  issuer: string;
  clientId: string;
  /** As the library returned it, checked for its state. */
  parameters: URLSearchParams;
  redirectUri: string;
  verifier: string;
  nonce: string;
  signal?: AbortSignal | undefined;
};

/** The account of an ID token whose signature, issuer, audience, times and nonce were checked. */
export type Account = { subject: string; email?: string };

/** Exchanges a code. Throws `GrantRefused`, `CredentialsError`, and the network's error. */
export async function exchange(about: Exchange): Promise<{ tokens: Tokens; account: Account }> {
  const { issuer, clientId, parameters, redirectUri, verifier, nonce, signal } = about;
  const server = serverOf(issuer);
  const client = { client_id: clientId };
  const options = { ...optionsFor(issuer, signal), additionalParameters: { resource } };
  try {
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, oauth.None(), parameters, redirectUri, verifier, options] as const),
    );
    const expected = { expectedNonce: nonce, requireIdToken: true };
    const result = await oauth.processAuthorizationCodeResponse(server, client, response, expected);
    await oauth.validateApplicationLevelSignature(server, response, optionsFor(issuer, signal));
    const claims = oauth.getValidatedIdTokenClaims(result);
    const email =
      claims?.email_verified === true && typeof claims.email === "string" ? claims.email : undefined;
    return {
      tokens: tokensOf(result, undefined),
      account: { subject: claims?.sub ?? "", ...(email ? { email } : {}) },
    };
  } catch (error) {
    throw told(error);
  }
}

/** Exchanges a refresh token, which is used up by it. Throws `GrantRefused`, `CredentialsError`, the network's error. */
export async function refreshed(
  issuer: string,
  clientId: string,
  tokens: Tokens,
  signal?: AbortSignal,
): Promise<Tokens> {
  const server = serverOf(issuer);
  const client = { client_id: clientId };
  const options = { ...optionsFor(issuer, signal), additionalParameters: { resource } };
  try {
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      tokens.refresh,
      options,
    );
    return tokensOf(await oauth.processRefreshTokenResponse(server, client, response), tokens);
  } catch (error) {
    throw told(error);
  }
}

/** Ends the tokens at the issuer. Throws the network's error. */
export async function revoke(issuer: string, clientId: string, { refresh }: Tokens): Promise<void> {
  const options = {
    ...optionsFor(issuer, undefined),
    additionalParameters: { token_type_hint: "refresh_token" },
  };
  const client = { client_id: clientId };
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(serverOf(issuer), client, oauth.None(), refresh, options),
  );
}

/** Reads an answer. `before`: what was granted earlier, which counts where the answer leaves it out. */
function tokensOf(answer: oauth.TokenEndpointResponse, before: Tokens | undefined): Tokens {
  const {
    access_token: access,
    refresh_token: refresh = before?.refresh,
    expires_in: seconds,
    scope,
  } = answer;
  const granted = scope?.split(/\s+/).filter(Boolean) ?? before?.scopes ?? [];
  if (!granted.includes(planScope))
    throw new GrantRefused(
      "plan_not_allowed",
      "the sign-in does not allow Sawtooth to use the ChatGPT plan: sign in again and allow it",
    );
  if (refresh === undefined || seconds === undefined || seconds <= 0)
    throw new CredentialsError("the issuer answered without a refresh token or a lifetime: sign in again");
  const earliest = millisOf(answer.earliest_refresh_at);
  return {
    ...{ access, refresh, expires: Date.now() + seconds * 1000, scopes: granted },
    ...(earliest ? { earliest } : {}),
  };
}

/** Reads a time as seconds since 1970 or as a date; undefined for anything else. */
function millisOf(time: unknown): number | undefined {
  const millis =
    typeof time === "number" ? time * 1000 : typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isFinite(millis) ? millis : undefined;
}

/** Codes of the library for an answer that is not what it must be: a wrong signature, nonce, audience or time. */
const doubtful = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
  "OAUTH_PARSE_ERROR",
]);

/** Words an error without what the issuer wrote beside its code, which may quote a token. */
function told(error: unknown): unknown {
  if (error instanceof oauth.ResponseBodyError)
    return new GrantRefused(error.error, `the issuer refused it (${error.status} ${error.error})`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (doubtful.has(code))
    return new CredentialsError(`the issuer's answer could not be trusted (${code}): nothing was stored`);
  if (code === "OAUTH_RESPONSE_IS_NOT_CONFORM" || code === "OAUTH_RESPONSE_IS_NOT_JSON")
    return new IssuerUnavailable("the issuer gave no usable answer");
  if (error instanceof CredentialsError) return error;
  return new IssuerUnavailable("the issuer did not answer");
}

/** The issuer gave no answer that decides anything: trying again later may help. */
export class IssuerUnavailable extends CredentialsError {}
