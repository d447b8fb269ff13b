/** Waits for the page of a sign-in: for the browser, or for a pasted address. */

import { createInterface } from "node:readline";
import { openPage } from "../../app/machine.ts";
import { writeError, writeOut } from "../terminal-output.ts";
import { typedLine } from "../typed-line.ts";

export type WaitingPage<T> = {
  url: string;
  paste(address: string): string | undefined;
  done: Promise<T>;
  cancel(): void;
};

/** Shows the page and returns what it led to. `next`: what a person does there. Rejects as `done` does. */
export async function signInByPage<T>(
  signing: WaitingPage<T>,
  { next, env }: { next: string; env: NodeJS.ProcessEnv },
): Promise<T> {
  process.once("SIGINT", signing.cancel);
  process.once("SIGTERM", signing.cancel);
  const opened = await openPage(signing.url, env);
  const open = opened ? "A browser opens this page" : "Open this page in a browser";
  writeOut(`${open}, and ${next}:\n${signing.url}\n\n`);
  writeOut(
    "It comes back here by itself. From another machine, paste the address that the browser ends on:\n",
  );
  const stop = process.stdin.isTTY ? typedAddresses(signing) : pipedAddresses(signing);
  try {
    return await signing.done;
  } finally {
    await stop();
    process.off("SIGINT", signing.cancel);
    process.off("SIGTERM", signing.cancel);
  }
}

type Pasting = Pick<WaitingPage<unknown>, "paste" | "cancel">;

function take(signing: Pasting, line: string): void {
  const wrong = line.trim() === "" ? undefined : signing.paste(line);
  if (wrong) writeError(`sawtooth: this is not that address (${wrong})\n`);
}

/** Reads addresses until the returned function is called. */
function pipedAddresses(signing: Pasting): () => Promise<void> {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => take(signing, line));
  return async () => lines.close();
}

function typedAddresses(signing: Pasting): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const reading = (async () => {
    while (!signal.aborted) {
      const line = await typedLine("", { shown: true, signal });
      if (line !== undefined) take(signing, line);
      else if (!signal.aborted) return signing.cancel();
    }
  })();
  return async () => {
    stop.abort();
    await reading;
  };
}
