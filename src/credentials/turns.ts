/** Changes of a stored sign-in, one process at a time. */

import { setTimeout as sleep } from "node:timers/promises";
import { claimFolder, inWords } from "../disk/claim.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { CredentialsError } from "./owned-file.ts";

/** Longest wait for another process, and between two looks, in milliseconds. */
const longestWait = 30_000;
const lookEvery = 50;

/** Runs `change` once no other process changes a sign-in in `folder`. Throws `CredentialsError` after 30 seconds. */
export async function inTurn<T>(
  folder: string,
  change: () => Promise<T>,
  signal?: AbortSignal | undefined,
): Promise<T> {
  const release = await turn(folder, signal);
  try {
    return await change();
  } finally {
    release();
  }
}

async function turn(folder: string, signal: AbortSignal | undefined): Promise<() => void> {
  makeFolders(folder, 0o700);
  for (const until = Date.now() + longestWait; ; ) {
    const claim = await claimFolder(folder);
    if (!("host" in claim)) return claim.release;
    if (Date.now() > until)
      throw new CredentialsError(`${inWords(claim)} has been changing the sign-in for 30 seconds: end it`);
    await sleep(lookEvery, undefined, signal ? { signal } : {});
  }
}
