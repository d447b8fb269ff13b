/** API keys that a person stored with `sawtooth login`, by provider, in one file of their own. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Secret } from "../core/secrets/secrets.ts";
import { CredentialsError, readOwned, removeOwned, writeOwned } from "./owned-file.ts";

/** `url`: the address that a variable named when the key was stored; the key is sent nowhere else. */
export type StoredKey = { key: string; url?: string };
export type StoredKeys = Readonly<Record<string, StoredKey>>;

/** Returns the folder with everything that is stored about sign-ins. `state`: the folder of state. */
export function credentialsFolder(state: string): string {
  return join(state, "credentials");
}

function fileIn(folder: string): string {
  return join(folder, "keys.json");
}

/** Returns the stored keys by provider. Throws `CredentialsError`; `warn` as in `readOwned`. */
export function readKeys(folder: string, warn: (text: string) => void): StoredKeys {
  const found = readOwned(fileIn(folder), warn) ?? {};
  for (const [provider, value] of Object.entries(found)) {
    const { key, url } = (value ?? {}) as Partial<StoredKey>;
    if (
      typeof key === "string" &&
      keyProblem(key) === undefined &&
      (url === undefined || typeof url === "string")
    )
      continue;
    throw new CredentialsError(
      `${fileIn(folder)} has no usable key for ${provider}: correct or remove the entry`,
    );
  }
  return found as StoredKeys;
}

/** Stores a key that has no problem, in place of an earlier one; returns the file. Throws `CredentialsError`. */
export function storeKey(folder: string, provider: string, stored: StoredKey): string {
  const file = fileIn(folder);
  writeOwned(file, { ...readKeys(folder, () => {}), [provider]: stored });
  return file;
}

/** Removes a key; returns false when there is none. Throws `CredentialsError`. */
export function removeKey(folder: string, provider: string): boolean {
  const { [provider]: found, ...rest } = readKeys(folder, () => {});
  if (!found) return false;
  if (Object.keys(rest).length === 0) removeOwned(fileIn(folder));
  else writeOwned(fileIn(folder), rest);
  return true;
}

/** Shortest and longest key, in characters. Shorter ones could not be told from ordinary text, and so not redacted. */
const shortest = 8;
const longest = 4096;

/** Says why a text is no key; undefined for one that may be. It never quotes the text. */
export function keyProblem(key: string): string | undefined {
  if (key === "") return "no key was given";
  if (/\s/.test(key)) return "a key has no blanks and no line breaks";
  if (!/^[\x21-\x7e]+$/.test(key)) return "a key has only letters, digits and signs of ASCII";
  if (key.length < shortest) return `a key has at least ${shortest} characters`;
  return key.length > longest ? `a key has at most ${longest} characters` : undefined;
}

/** Returns a function that gives the secrets stored in a folder as they are now: the same array until they change. */
export function storedSecrets(folder: string): () => readonly Secret[] {
  let signature = "";
  let secrets: readonly Secret[] = [];
  return () => {
    const now = secretFiles.map((name) => signatureOf(join(folder, name))).join("\n");
    if (now !== signature) secrets = secretFiles.flatMap((name) => secretsIn(join(folder, name)));
    signature = now;
    return secrets;
  };
}

const secretFiles = ["keys.json", "chatgpt.json", "mcp.json"];

function signatureOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : "";
}

/** Returns the texts of fields that hold a secret, wherever they stand in the file. */
function secretsIn(path: string): Secret[] {
  try {
    return fieldsOf(readOwned(path, () => {}) ?? {}, "");
  } catch {
    return [];
  }
}

function fieldsOf(value: unknown, owner: string): Secret[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    if (typeof each !== "string") return fieldsOf(each, name);
    if (each.length < shortest) return [];
    if (name === "key") return [{ name: `${owner.toUpperCase()}_API_KEY`, value: each }];
    if (owner === "secrets") return [{ name: "MCP_TOKEN", value: each }];
    return owner === "tokens" ? [{ name: "CHATGPT_TOKEN", value: each }] : [];
  });
}
