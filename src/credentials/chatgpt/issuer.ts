/**
 * The endpoints and names of signing in with ChatGPT, as OpenAI documents them for open-source programs that run on the
 * person's own machine (developers.openai.com/siwc/token-sharing-open-source).
 */

import type { AuthorizationServer } from "oauth4webapi";

export const usualIssuer = "https://auth.openai.com";
/** The API that the tokens are for. */
export const resource = "https://api.openai.com/v1";
/** The client of a first sign-in; the callback brings the one that was registered by it. */
export const firstClient = "dynamic_agent_client";
/** The name that is shown when a client is registered, the same in every installation. */
export const agentName = "Sawtooth";
/** The scope without which the plan cannot be used. */
export const planScope = "chatgpt.tokens.use.direct";
export const scopes = `openid profile email offline_access resource.invoke ${planScope}`;
export const callbackPath = "/auth/callback";

/** Returns what the library needs to know about the issuer. */
export function serverOf(issuer: string): AuthorizationServer {
  return {
    issuer,
    authorization_endpoint: `${issuer}/api/accounts/authorize`,
    token_endpoint: `${issuer}/api/accounts/oauth/token`,
    revocation_endpoint: `${issuer}/api/accounts/oauth/revoke`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
  };
}

/** Without TLS only a server on this machine is talked to. */
export function isOwnMachine(issuer: string): boolean {
  return /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::|$)/.test(issuer);
}
