/** The record of signing in with ChatGPT: the id of this host, the client that was registered, and the tokens. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { CredentialsError, readOwned, writeOwned } from "../owned-file.ts";

/** `expires`, `earliest`: milliseconds since 1970; before `earliest` no refresh is accepted. */
export type Tokens = {
  access: string;
  refresh: string;
  expires: number;
  earliest?: number;
  scopes: string[];
};

/** `host`: a URN that stays the same on this machine. `client`: stays after a sign-out, as does its account. */
export type ChatgptRecord = {
  host: string;
  client?: { id: string; subject?: string; email?: string };
  tokens?: Tokens;
};

function fileIn(folder: string): string {
  return join(folder, "chatgpt.json");
}

/** Returns the record; undefined when there was never a sign-in. Throws `CredentialsError`. */
export function readRecord(
  folder: string,
  warn: (text: string) => void = () => {},
): ChatgptRecord | undefined {
  const found = readOwned(fileIn(folder), warn);
  if (found === undefined) return undefined;
  const { host, client, tokens } = found as Partial<ChatgptRecord>;
  const fine =
    typeof host === "string" &&
    (client === undefined || typeof client.id === "string") &&
    (tokens === undefined ||
      ([tokens.access, tokens.refresh].every((each) => typeof each === "string" && each !== "") &&
        Number.isFinite(tokens.expires) &&
        Array.isArray(tokens.scopes)));
  if (fine) return found as ChatgptRecord;
  throw new CredentialsError(
    `${fileIn(folder)} is not a sign-in: remove it and run sawtooth login chatgpt again`,
  );
}

/** Returns the record, made and stored before the first sign-in. Throws `CredentialsError`. */
export function ownRecord(folder: string): ChatgptRecord {
  const found = readRecord(folder);
  if (found) return found;
  const made = { host: `urn:uuid:${randomUUID()}` };
  writeRecord(folder, made);
  return made;
}

/** Throws `CredentialsError`. */
export function writeRecord(folder: string, record: ChatgptRecord): void {
  writeOwned(fileIn(folder), record);
}
