/** The access token of a stored sign-in, refreshed when it is about to end: one process at a time. */

import { CredentialsError } from "../owned-file.ts";
import { inTurn } from "../turns.ts";
import { GrantRefused, IssuerUnavailable, refreshed } from "./grants.ts";
import { usualIssuer } from "./issuer.ts";
import { type ChatgptRecord, readRecord, type Tokens, writeRecord } from "./stored.ts";

/** Milliseconds before its end at which a token is refreshed. */
const marginMs = 120_000;

export type Wanted = {
  /** The folder of credentials. */
  folder: string;
  issuer?: string | undefined;
  /** A token that the API refused, which is not given again. */
  refused?: string | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Returns an access token that is good for now. Throws `CredentialsError` when nobody is signed in or the sign-in has
 * ended, and `IssuerUnavailable` when a token that has ended could not be refreshed.
 */
export async function accessToken(wanted: Wanted): Promise<string> {
  const { tokens } = signedIn(wanted.folder);
  if (isFresh(tokens, wanted)) return tokens.access;
  const change = async () => {
    // Another process may have refreshed meanwhile.
    const record = signedIn(wanted.folder);
    return isFresh(record.tokens, wanted) ? record.tokens.access : renewed(record, wanted);
  };
  return inTurn(wanted.folder, change, wanted.signal);
}

type SignedIn = ChatgptRecord & Required<Pick<ChatgptRecord, "client" | "tokens">>;

function signedIn(folder: string): SignedIn {
  const { client, tokens, ...rest } = readRecord(folder) ?? { host: "" };
  if (client && tokens) return { ...rest, client, tokens };
  throw new CredentialsError("nobody is signed in with ChatGPT: run sawtooth login chatgpt");
}

function isFresh({ access, expires, earliest = 0 }: Tokens, { refused }: Wanted): boolean {
  const now = Date.now();
  if (access === refused) return false;
  return expires - now > marginMs || (expires > now && earliest > now);
}

async function renewed(
  record: SignedIn,
  { folder, issuer = usualIssuer, refused, signal }: Wanted,
): Promise<string> {
  const { client, tokens } = record;
  try {
    const fresh = await refreshed(issuer, client.id, tokens, signal);
    writeRecord(folder, { ...record, tokens: fresh });
    return fresh.access;
  } catch (error) {
    if (error instanceof GrantRefused) {
      const { tokens: _, ...rest } = record;
      writeRecord(folder, rest);
      throw new GrantRefused(
        error.code,
        "the sign-in with ChatGPT has ended: run sawtooth login chatgpt again",
      );
    }
    const stillGood = tokens.expires > Date.now() && tokens.access !== refused;
    if (error instanceof IssuerUnavailable && stillGood) return tokens.access;
    throw error;
  }
}
