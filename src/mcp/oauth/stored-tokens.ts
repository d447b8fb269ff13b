/** The stored sign-in in the requests of a session: sent, and refreshed once the server refuses it. Asks nobody. */

import {
  type AuthProvider,
  computeScopeUnion,
  InsufficientScopeError,
  OAuthError,
  refreshAuthorization,
} from "@modelcontextprotocol/client";
import type { HttpServer } from "../configuration.ts";
import { hasOwnAuthorization } from "../failures.ts";
import { changeSignIn, clientOf, readSignIn, tokensOf, withSignIns, withTokens } from "./record.ts";
import { SignInNeeded } from "./sign-in-needed.ts";

/**
 * Returns what gives the SDK its tokens; undefined where the person's headers say who they are. A refusal that a person
 * has to mend is `SignInNeeded`.
 */
export function storedTokens(server: HttpServer, credentials: string): AuthProvider | undefined {
  if (hasOwnAuthorization(server)) return undefined;
  let sent: string | undefined;
  return {
    async token() {
      sent = readSignIn(credentials, server)?.secrets?.access;
      return sent;
    },
    async onUnauthorized({ fetchFn }) {
      const refused = sent;
      if (refused === undefined) throw new SignInNeeded();
      await withSignIns(credentials, () => renew(server, { credentials, refused, fetchFn }));
    },
  };
}

type Renewal = {
  credentials: string;
  refused: string;
  fetchFn: NonNullable<Parameters<typeof refreshAuthorization>[1]["fetchFn"]>;
};

async function renew(server: HttpServer, { credentials, refused, fetchFn }: Renewal): Promise<void> {
  const record = readSignIn(credentials, server) ?? {};
  const tokens = tokensOf(record);
  // Another process may have refreshed it meanwhile.
  if (tokens && tokens.access_token !== refused) return;
  const { discovery, resource } = record;
  const clientInformation = clientOf(record, server.client);
  if (!tokens?.refresh_token || !discovery || !clientInformation) throw new SignInNeeded();
  try {
    const fresh = await refreshAuthorization(discovery.authorizationServerUrl, {
      ...(discovery.authorizationServerMetadata ? { metadata: discovery.authorizationServerMetadata } : {}),
      ...(resource ? { resource: new URL(resource) } : {}),
      ...{ clientInformation, refreshToken: tokens.refresh_token, fetchFn },
    });
    const issuer = tokens.issuer === undefined ? {} : { issuer: tokens.issuer };
    changeSignIn(credentials, server, (before) => withTokens(before, { ...fresh, ...issuer }));
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    // A refresh token is used up by a refusal; the client stays registered.
    changeSignIn(credentials, server, ({ secrets, granted: _, ...rest }) => ({
      ...{ ...rest, secrets: secrets?.client ? { client: secrets.client } : {} },
    }));
    throw new SignInNeeded();
  }
}

/** Notes the rights that a refused call lacked, so that the next sign-in asks for them too. */
export function noteMissingRights(server: HttpServer, credentials: string, error: unknown): void {
  if (!(error instanceof InsufficientScopeError) || !error.requiredScope) return;
  changeSignIn(credentials, server, (record) => {
    const missing = computeScopeUnion(record.granted?.scope, record.missing, error.requiredScope);
    return { ...record, ...(missing ? { missing } : {}) };
  });
}
