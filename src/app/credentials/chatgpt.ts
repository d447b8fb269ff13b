/** Signing in with ChatGPT from this program: where it is stored, and which issuer answers. */

import { folders } from "../../config/folders.ts";
import { UsageError } from "../../core/errors.ts";
import { isLocal } from "../../credentials/chatgpt/grants.ts";
import { beginSignIn, type SigningIn, signOut } from "../../credentials/chatgpt/sign-in.ts";
import { credentialsFolder } from "../../credentials/keys.ts";

type Environment = Record<string, string | undefined>;

/** Returns another issuer than OpenAI's: a server on this machine, for tests. Throws `UsageError` for any other. */
function issuerOf({ SAWTOOTH_CHATGPT_ISSUER: issuer }: Environment): string | undefined {
  if (!issuer || isLocal(issuer)) return issuer || undefined;
  throw new UsageError(
    "SAWTOOTH_CHATGPT_ISSUER must be a server on this machine, such as http://127.0.0.1:8080",
  );
}

/** Begins a sign-in. Throws `CredentialsError` and `UsageError`. */
export function signInChatgpt(env: Environment): Promise<SigningIn> {
  return beginSignIn(credentialsFolder(folders(env).state), issuerOf(env));
}

/** Ends the sign-in; false when nobody is signed in. Throws `CredentialsError`. */
export function signOutChatgpt(env: Environment): Promise<boolean> {
  return signOut(credentialsFolder(folders(env).state), issuerOf(env));
}
