/** `sawtooth login chatgpt`: shows the page of the sign-in, and waits for the browser or for a pasted address. */

import { signInChatgpt } from "../../app/credentials/chatgpt.ts";
import { writeOut } from "../terminal-output.ts";
import { signInByPage } from "./sign-in-page.ts";

/** Returns when somebody is signed in. Throws `CredentialsError`, and `UsageError` for another issuer. */
export async function loginChatgpt(env: NodeJS.ProcessEnv): Promise<void> {
  const signing = await signInChatgpt(env);
  const { email } = await signInByPage(signing, { next: "continue with ChatGPT", env });
  writeOut(`Signed in${email ? ` as ${email}` : ""}. sawtooth logout chatgpt signs out.\n`);
}
