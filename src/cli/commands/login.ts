/** `sawtooth login` and `sawtooth logout`: store an API key for the person alone, and remove it. */

import { type KeyRow, keyRows, removeStored, storedNames, storeFor } from "../../app/stored-keys.ts";
import { UsageError } from "../../core/errors.ts";
import { writeError, writeOut } from "../terminal-output.ts";
import { readSecret } from "../typed-line.ts";

/** Runs `sawtooth login`; returns the exit code. Throws `UsageError` and `CredentialsError`. */
export async function runLogin(operands: readonly string[]): Promise<number> {
  const [provider, stray] = operands;
  if (stray !== undefined) throw new UsageError(`login takes one provider; unexpected: ${stray}`);
  if (provider === undefined) throw new UsageError(`login needs a provider: ${known()}`);
  if (isChatgpt(provider)) {
    await (await import("./login-chatgpt.ts")).loginChatgpt(process.env);
    return 0;
  }
  const row = rowOf(provider);
  const key = await readSecret(`Paste the API key of ${row.title} (it is not shown), then Enter: `);
  const file = storeFor(row, key, process.env);
  writeOut(`Stored the key of ${row.title} in ${file}, for you alone.\n`);
  warnOfVariable(row, "wins over it");
  return 0;
}

/** Runs `sawtooth logout`; returns the exit code. Throws `UsageError` and `CredentialsError`. */
export async function runLogout(operands: readonly string[]): Promise<number> {
  const [named, stray] = operands;
  if (stray !== undefined) throw new UsageError(`logout takes one provider; unexpected: ${stray}`);
  const stored = storedNames(process.env);
  const provider = named ?? (stored.length === 1 ? stored[0] : undefined);
  if (provider === undefined)
    throw new UsageError(
      stored.length === 0 ? "no key is stored" : `logout needs a provider; stored are ${stored.join(", ")}`,
    );
  if (isChatgpt(provider)) return logoutChatgpt();
  const removed = removeStored(provider, process.env);
  if (!removed)
    throw new UsageError(
      `no key of ${provider} is stored${stored.length > 0 ? `; stored are ${stored.join(", ")}` : ""}`,
    );
  writeOut(`Removed the stored key of ${provider}.\n`);
  const row = keyRows.find((each) => each.provider === provider);
  if (row) warnOfVariable(row, "still counts");
  return 0;
}

async function logoutChatgpt(): Promise<number> {
  const { signOutChatgpt } = await import("../../app/credentials/chatgpt.ts");
  if (!(await signOutChatgpt(process.env))) throw new UsageError("nobody is signed in with ChatGPT");
  writeOut("Signed out of ChatGPT.\n");
  return 0;
}

function warnOfVariable({ variables }: KeyRow, what: string): void {
  const set = variables.find((name) => process.env[name]);
  if (set) writeError(`sawtooth: ${set} is set in the environment and ${what}\n`);
}

function rowOf(provider: string): KeyRow {
  const row = keyRows.find((each) => each.provider === provider.toLowerCase());
  if (row) return row;
  throw new UsageError(`unknown provider ${provider}: name one of ${known()}`);
}

function known(): string {
  return `${keyRows.map(({ provider }) => provider).join(", ")}, or chatgpt to sign in`;
}

function isChatgpt(provider: string): boolean {
  return provider.toLowerCase() === "chatgpt";
}
