/** `sawtooth login chatgpt`: shows the page of the sign-in, and waits for the browser or for a pasted address. */

import { createInterface } from "node:readline";
import { signInChatgpt } from "../../app/credentials/chatgpt.ts";
import { openPage } from "../../app/machine.ts";
import { writeError, writeOut } from "../terminal-output.ts";
import { typedLine } from "../typed-line.ts";

type SigningIn = Awaited<ReturnType<typeof signInChatgpt>>;

/** Returns when somebody is signed in. Throws `CredentialsError`, and `UsageError` for another issuer. */
export async function loginChatgpt(env: NodeJS.ProcessEnv): Promise<void> {
  const signing = await signInChatgpt(env);
  process.once("SIGINT", signing.cancel);
  process.once("SIGTERM", signing.cancel);
  const opened = await openPage(signing.url, env);
  writeOut(
    `${opened ? "A browser opens this page" : "Open this page in a browser"}, and continue with ChatGPT:\n${signing.url}\n\n`,
  );
  writeOut(
    "It comes back here by itself. From another machine, paste the address that the browser ends on:\n",
  );
  const stop = process.stdin.isTTY ? typedAddresses(signing) : pipedAddresses(signing);
  try {
    const { email } = await signing.done;
    writeOut(`Signed in${email ? ` as ${email}` : ""}. sawtooth logout chatgpt signs out.\n`);
  } finally {
    await stop();
    process.off("SIGINT", signing.cancel);
    process.off("SIGTERM", signing.cancel);
  }
}

function take(signing: SigningIn, line: string): void {
  const wrong = line.trim() === "" ? undefined : signing.paste(line);
  if (wrong) writeError(`sawtooth: this is not that address (${wrong})\n`);
}

/** Reads addresses until the returned function is called. */
function pipedAddresses(signing: SigningIn): () => Promise<void> {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => take(signing, line));
  return async () => lines.close();
}

function typedAddresses(signing: SigningIn): () => Promise<void> {
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
