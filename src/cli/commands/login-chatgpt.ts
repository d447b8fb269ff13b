/** `sawtooth login chatgpt`: shows the page of the sign-in, and waits for the browser or for a pasted address. */

import { createInterface } from "node:readline";
import { signInChatgpt } from "../../app/credentials/chatgpt.ts";
import { openPage } from "../../app/machine.ts";
import { writeError, writeOut } from "../terminal-output.ts";

/** Returns the exit code. Throws `CredentialsError`, and `UsageError` for another issuer. */
export async function loginChatgpt(env: NodeJS.ProcessEnv): Promise<number> {
  const signing = await signInChatgpt(env);
  const opened = await openPage(signing.url, env);
  writeOut(
    `${opened ? "A browser opens this page" : "Open this page in a browser"}, and continue with ChatGPT:\n`,
  );
  writeOut(`${signing.url}\n\n`);
  writeOut(
    "It comes back here by itself. From another machine, paste the address that the browser ends on:\n",
  );
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    const wrong = line.trim() === "" ? undefined : signing.paste(line);
    if (wrong) writeError(`sawtooth: this is not that address (${wrong})\n`);
  });
  process.once("SIGINT", signing.cancel);
  process.once("SIGTERM", signing.cancel);
  try {
    const { email } = await signing.done;
    writeOut(`Signed in${email ? ` as ${email}` : ""}. sawtooth logout chatgpt signs out.\n`);
    return 0;
  } finally {
    lines.close();
  }
}
