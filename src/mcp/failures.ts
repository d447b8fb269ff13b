/** Failures between us and a server, in a word and in words. */

import type { ServerConfiguration } from "./configuration.ts";

/**
 * `invalid`: the arguments; `ended`: the server is gone, and the next call connects again; `sign_in`: a person has to
 * sign in first; `timeout`: no answer and no progress; `cancelled`: by the person.
 */
export type CallFailure = "invalid" | "ended" | "timeout" | "cancelled" | "sign_in" | "other";

/** The message completes a sentence that begins with the server's name. */
export class CallFailed extends Error {
  readonly kind: CallFailure;
  constructor(kind: CallFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** `refused`: it answered, and does not speak the protocol that it spoke before. */
export type ConnectFailure = "ended" | "refused" | "sign_in" | "other";

export class ConnectFailed extends Error {
  readonly kind: ConnectFailure;
  constructor(kind: ConnectFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Says why a server cannot be used, in a sentence without a full stop. */
export function notConnected(configuration: ServerConfiguration, error: Error): string {
  const { name, kind } = configuration;
  if (error instanceof ConnectFailed && error.kind === "sign_in") return signInText(configuration);
  return `MCP server ${name} cannot ${kind === "http" ? "be used: it" : "be started:"} ${error.message}`;
}

/** Says what a person has to do before a server can be used. */
export function signInText(configuration: ServerConfiguration): string {
  const { name } = configuration;
  return hasOwnAuthorization(configuration)
    ? `MCP server ${name} refused the Authorization header of its entry in the settings: only the person can mend that`
    : `MCP server ${name} needs a sign-in, which only the person can do: sawtooth mcp login ${name}`;
}

/** Returns true where the person's headers say who they are, so that there is no sign-in. */
export function hasOwnAuthorization(configuration: ServerConfiguration): boolean {
  if (configuration.kind !== "http") return false;
  return Object.keys(configuration.headers).some((name) => name.toLowerCase() === "authorization");
}
