/** Signing in with ChatGPT: a page in the browser, and its way back to this machine, or pasted by hand. */

import * as oauth from "oauth4webapi";
import { listenForBrowser } from "../browser-callback.ts";
import { CredentialsError } from "../owned-file.ts";
import { inTurn } from "../turns.ts";
import { type Account, exchange, GrantRefused, revoke } from "./grants.ts";
import { agentName, callbackPath, firstClient, resource, scopes, serverOf, usualIssuer } from "./issuer.ts";
import { ownRecord, readRecord, writeRecord } from "./stored.ts";

/** Milliseconds that a page may stay open. */
const patienceMs = 10 * 60_000;

/** A sign-in that waits for its page. */
export type SigningIn = {
  /** The page to open in a browser. */
  url: string;
  /** Takes the address that the browser ended on; returns why it is not the one. */
  paste(address: string): string | undefined;
  /** Settles when the tokens are stored, or with why they are not: `CredentialsError`. */
  done: Promise<Account>;
  /** Gives up. Idempotent. */
  cancel(): void;
};

type Attempt = { state: string; nonce: string; verifier: string; redirectUri: string; issuer: string };

/** Begins a sign-in: listens on 127.0.0.1, and has the page's address. Throws `CredentialsError`. */
export async function beginSignIn(folder: string, issuer = usualIssuer): Promise<SigningIn> {
  const record = ownRecord(folder);
  const back = Promise.withResolvers<URLSearchParams>();
  back.promise.catch(() => undefined);
  const listener = await listenForBrowser(callbackPath, (address) => taken(address, attempt, back));
  const attempt: Attempt = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    redirectUri: listener.redirectUri,
    issuer,
  };
  const timer = setTimeout(
    () => back.reject(new CredentialsError("nobody signed in within 10 minutes")),
    patienceMs,
  );
  const done = back.promise
    .then((parameters) => inTurn(folder, () => finished(folder, attempt, parameters)))
    .finally(() => {
      clearTimeout(timer);
      listener.close();
    });
  return {
    url: await pageOf(attempt, record),
    paste: listener.paste,
    done,
    cancel: () => back.reject(new CredentialsError("the sign-in was given up: nothing was stored")),
  };
}

async function pageOf(attempt: Attempt, { host, client }: ReturnType<typeof ownRecord>): Promise<string> {
  const page = new URL(serverOf(attempt.issuer).authorization_endpoint ?? "");
  const parameters = {
    ...(client ? { client_id: client.id } : { client_id: firstClient, agent_name_hint: agentName }),
    ...(client?.email ? { login_hint: client.email } : {}),
    ext_agent_host_id: host,
    response_type: "code",
    redirect_uri: attempt.redirectUri,
    scope: scopes,
    resource,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: "S256",
  };
  page.search = new URLSearchParams(parameters).toString();
  return page.href;
}

/** Takes an address of the callback; returns why it is not this sign-in's, which then goes on waiting. */
function taken(
  address: URL,
  { state, issuer }: Attempt,
  back: PromiseWithResolvers<URLSearchParams>,
): string | undefined {
  const names = [...address.searchParams.keys()];
  const isWhole = names.includes("code") || names.includes("error");
  if (!isWhole || new Set(names).size < names.length) return foreign;
  try {
    back.resolve(oauth.validateAuthResponse(serverOf(issuer), { client_id: firstClient }, address, state));
    return undefined;
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) return foreign;
    const declined =
      error.error === "access_denied" ? "it was not allowed" : `the issuer said ${plainCode(error.error)}`;
    back.reject(new CredentialsError(`the sign-in ended without tokens: ${declined}`));
    return undefined;
  }
}

const foreign = "This is not the answer to this sign-in.";

function plainCode(code: string): string {
  return code.replaceAll(/[^\w.-]/g, "").slice(0, 60);
}

/** Exchanges the code and stores the tokens. The registration is stored first: a failed exchange must not cost it. */
async function finished(folder: string, attempt: Attempt, parameters: URLSearchParams): Promise<Account> {
  const record = readRecord(folder) ?? ownRecord(folder);
  const { client: known } = record;
  const issued = parameters.getAll("client_id");
  const clientId = issued[0] ?? known?.id;
  if (issued.length > 1 || clientId === undefined || clientId === firstClient)
    throw new CredentialsError("the issuer registered no client: sign in again");
  if (known && known.id !== clientId)
    throw new CredentialsError(
      "the issuer answered for another client than the registered one: nothing was stored",
    );
  const registered = { ...record, client: { ...known, id: clientId } };
  writeRecord(folder, registered);
  const { host } = record;
  try {
    const { tokens, account } = await exchange({ ...attempt, clientId, parameters });
    if (known?.subject !== undefined && known.subject !== account.subject) {
      writeRecord(folder, { host });
      await revoke(attempt.issuer, clientId, tokens).catch(() => undefined);
      throw new CredentialsError(
        `this is another ChatGPT account than ${known.email ?? "the one"} registered here: sign in once more to register it`,
      );
    }
    const email = account.email ?? known?.email;
    const client = { id: clientId, subject: account.subject, ...(email ? { email } : {}) };
    writeRecord(folder, { host, client, tokens });
    return account;
  } catch (error) {
    // A client that the issuer no longer knows would fail for ever.
    if (error instanceof GrantRefused && /^(?:invalid|unauthorized)_client$/.test(error.code))
      writeRecord(folder, { host });
    throw error;
  }
}

/** Ends the sign-in; the registration stays for the next one. Returns false when nobody is signed in. */
export async function signOut(folder: string, issuer = usualIssuer): Promise<boolean> {
  return readRecord(folder)?.tokens ? inTurn(folder, () => signedOut(folder, issuer)) : false;
}

async function signedOut(folder: string, issuer: string): Promise<boolean> {
  const record = readRecord(folder);
  if (!record?.tokens) return false;
  const { tokens, ...rest } = record;
  writeRecord(folder, rest);
  // The tokens are gone from here whether or not the issuer answers.
  if (record.client) await revoke(issuer, record.client.id, tokens).catch(() => undefined);
  return true;
}
