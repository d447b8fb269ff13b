/** Signing in with ChatGPT from this program: where it is stored, and which issuer answers. */

import { folders } from "../../config/folders.ts";
import { UsageError } from "../../core/errors.ts";
import { isOwnMachine } from "../../credentials/chatgpt/issuer.ts";
import type { SigningIn } from "../../credentials/chatgpt/sign-in.ts";
import { readRecord } from "../../credentials/chatgpt/stored.ts";
import { credentialsFolder } from "../../credentials/keys.ts";

type Environment = Record<string, string | undefined>;

/** Returns another issuer than OpenAI's: a server on this machine, for tests. Throws `UsageError` for any other. */
function issuerOf({ SAWTOOTH_CHATGPT_ISSUER: issuer }: Environment): string | undefined {
  if (!issuer || isOwnMachine(issuer)) return issuer || undefined;
  throw new UsageError(
    "SAWTOOTH_CHATGPT_ISSUER must be a server on this machine, such as http://127.0.0.1:8080",
  );
}

/** Begins a sign-in. Throws `CredentialsError` and `UsageError`. */
export async function signInChatgpt(env: Environment): Promise<SigningIn> {
  const { beginSignIn } = await import("../../credentials/chatgpt/sign-in.ts");
  return beginSignIn(credentialsFolder(folders(env).state), issuerOf(env));
}

/**
 * Returns what gives an access token for each request; undefined where `token` is not the stored one, but came with the
 * environment. `refused`: a token that the API did not take. It throws `CredentialsError`.
 */
export function tokenSource(env: Environment, token: string) {
  const folder = credentialsFolder(folders(env).state);
  if (readRecord(folder)?.tokens?.access !== token) return undefined;
  return async (refused: string | undefined, signal: AbortSignal): Promise<string> => {
    const { accessToken } = await import("../../credentials/chatgpt/access-token.ts");
    return accessToken({ folder, issuer: issuerOf(env), refused, signal });
  };
}

/** Ends the sign-in; false when nobody is signed in. Throws `CredentialsError`. */
export async function signOutChatgpt(env: Environment): Promise<boolean> {
  const { signOut } = await import("../../credentials/chatgpt/sign-in.ts");
  return signOut(credentialsFolder(folders(env).state), issuerOf(env));
}
