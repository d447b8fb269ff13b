/** Adds the stored API keys to the environment that models are chosen from. Child processes never get this one. */

import { folders } from "../config/folders.ts";
import { UsageError } from "../core/errors.ts";
import { readRecord } from "../credentials/chatgpt/stored.ts";
import { formProblem } from "../credentials/forms.ts";
import {
  credentialsFolder,
  keyProblem,
  readKeys,
  removeKey,
  type StoredKeys,
  storeKey,
} from "../credentials/keys.ts";
import { CredentialsError } from "../credentials/owned-file.ts";
import { urlVariableOf } from "../models/access.ts";
import { providers } from "../models/providers.ts";
import type { SessionOptions } from "./options.ts";

type Environment = Record<string, string | undefined>;

/** A provider whose key can be stored. The first of `variables` stands for the key; `url` names its address. */
export type KeyRow = {
  provider: string;
  title: string;
  variables: readonly [string, ...string[]];
  url: string;
};

export const keyRows: readonly KeyRow[] = providers.flatMap((row) => {
  const [first, ...more] = row.signer || row.plan ? [] : row.keys;
  if (first === undefined) return [];
  return [{ provider: row.name, title: row.title, variables: [first, ...more], url: urlVariableOf(row) }];
});

type Context = { flags: Pick<SessionOptions, "bare">; env: Environment; warn(text: string): void };

/**
 * Returns `env` with the stored key of each provider that has none there; with `--bare` just `env`. A key is left out
 * where the address is not the one it was stored for, and a file that cannot be read gives none: `warn` says so.
 */
export function withStoredKeys({ flags, env, warn }: Context): Environment {
  if (flags.bare) return env;
  const stored = storedIn(env, warn);
  const added = keyRows.flatMap(({ provider, variables, url }): [string, string][] => {
    const found = stored[provider];
    if (!found || variables.some((name) => env[name])) return [];
    if ((env[url] || undefined) === found.url) return [[variables[0], found.key]];
    const stands = env[url] ? `${url} names ${env[url]}` : `${url} is not set`;
    warn(
      `the stored key of ${provider} is for ${found.url ?? "its own address"}, and ${stands}: it is not used (sawtooth login ${provider} stores one for this address)`,
    );
    return [];
  });
  return { ...env, ...Object.fromEntries(added), ...storedSignIn(env, warn) };
}

/** The token of the sign-in as it is now. It goes to OpenAI alone, and to another server only in tests. */
function storedSignIn(env: Environment, warn: (text: string) => void): Environment {
  if (env.CHATGPT_ACCESS_TOKEN || (env.CHATGPT_BASE_URL && !env.SAWTOOTH_CHATGPT_ISSUER)) return {};
  try {
    const { tokens } = readRecord(credentialsFolder(folders(env).state), warn) ?? {};
    return tokens ? { CHATGPT_ACCESS_TOKEN: tokens.access } : {};
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error;
    warn(error.message);
    return {};
  }
}

function storedIn(env: Environment, warn: (text: string) => void): StoredKeys {
  try {
    return readKeys(credentialsFolder(folders(env).state), warn);
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error;
    warn(error.message);
    return {};
  }
}

/** Stores a key for the address in force now; returns the file. Throws `UsageError` and `CredentialsError`. */
export function storeFor({ provider, url }: KeyRow, key: string, env: Environment): string {
  const folder = credentialsFolder(folders(env).state);
  const wrong = keyProblem(key) ?? formProblem(provider, key);
  if (wrong) throw new UsageError(`${wrong}: nothing was stored`);
  return storeKey(folder, provider, { key, ...(env[url] ? { url: env[url] } : {}) });
}

/** Names the providers with a stored key, and `chatgpt` when somebody is signed in. Throws `CredentialsError`. */
export function storedNames(env: Environment): string[] {
  const folder = credentialsFolder(folders(env).state);
  return [...Object.keys(readKeys(folder, () => {})), ...(readRecord(folder)?.tokens ? ["chatgpt"] : [])];
}

/** Removes a stored key; returns false when there is none. Throws `CredentialsError`. */
export function removeStored(provider: string, env: Environment): boolean {
  return removeKey(credentialsFolder(folders(env).state), provider);
}
