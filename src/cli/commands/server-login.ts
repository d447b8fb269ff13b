/** `sawtooth mcp login` and `sawtooth mcp logout`: signing in with a server at an address, and out of it. */

import { signInToServer, signOutOfServer } from "../../app/mcp/sign-in.ts";
import { UsageError } from "../../core/errors.ts";
import { signInByPage } from "./sign-in-page.ts";

type Call = {
  operands: readonly string[];
  env: Record<string, string | undefined>;
  say(text: string): void;
};

/** Returns the exit code once somebody is signed in. Throws `CredentialsError` and `UsageError`. */
export async function mcpLogin({ operands, env, say }: Call): Promise<number> {
  const name = onlyName("login", operands);
  const signing = await signInToServer(name, env);
  if (signing === "not_needed") {
    say(`${name} answers without a sign-in.\n`);
    return 0;
  }
  await signInByPage(signing, { next: "sign in there", env });
  say(`Signed in with ${name}. sawtooth mcp logout ${name} signs out.\n`);
  return 0;
}

/** Returns the exit code. Throws `CredentialsError` and `UsageError`. */
export async function mcpLogout({ operands, env, say }: Call): Promise<number> {
  const name = onlyName("logout", operands);
  const was = await signOutOfServer(name, env);
  say(was ? `Signed out of ${name}.\n` : `Nobody was signed in with ${name}.\n`);
  return 0;
}

function onlyName(verb: string, [name, stray]: readonly string[]): string {
  if (name === undefined) throw new UsageError(`${verb} needs a name: sawtooth mcp list has them`);
  if (stray !== undefined) throw new UsageError(`${verb} takes one name; unexpected: ${stray}`);
  return name;
}
