/** Reads the errors of the SDK: what went wrong, in a word and in words. */

import {
  type ElicitRequestURLParams,
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/client";
import type { CallFailure, ConnectFailure } from "./failures.ts";
import { brokenOff } from "./http/bounded-fetch.ts";
import { SignInNeeded } from "./oauth/sign-in-needed.ts";
import { shownLine } from "./shown.ts";

/** Classifies what a call threw. */
export function callFailure(error: unknown): Exclude<CallFailure, "timeout" | "cancelled"> {
  if (needsSignIn(error)) return "sign_in";
  if (error instanceof ProtocolError) {
    if (error.code === brokenOff) return "ended";
    const { InvalidParams, ResourceNotFound } = ProtocolErrorCode;
    return error.code === InvalidParams || error.code === ResourceNotFound ? "invalid" : "other";
  }
  // A session that the server has forgotten is answered with 404.
  if (error instanceof SdkHttpError) return error.status === 404 ? "ended" : "other";
  if (!(error instanceof SdkError)) return "ended";
  const gone = error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected;
  return gone ? "ended" : "other";
}

/** Classifies what a first exchange threw. */
export function connectFailure(error: unknown, hasEnded: boolean): ConnectFailure {
  if (needsSignIn(error)) return "sign_in";
  if (hasEnded) return "ended";
  if (error instanceof ProtocolError) return "refused";
  if (error instanceof SdkHttpError)
    return error.status !== undefined && error.status >= 400 && error.status < 500 ? "refused" : "other";
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed ? "refused" : "other";
}

/** Returns the pages that a server wants to be opened before it takes a call. */
export function pagesNeeded(error: unknown): ElicitRequestURLParams[] {
  return error instanceof UrlElicitationRequiredError ? error.elicitations : [];
}

function needsSignIn(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 401;
  return (
    error instanceof UnauthorizedError ||
    error instanceof InsufficientScopeError ||
    causes(error).some((one) => one instanceof SignInNeeded)
  );
}

/** Returns the words of an error, for one line. */
export function wordsOf(error: unknown): string {
  if (error instanceof ProtocolError && error.code === brokenOff) return "broke off its answer";
  if (error instanceof SdkHttpError && error.status !== undefined) {
    const text = typeof error.data?.text === "string" ? `: ${shownLine(error.data.text, 300)}` : "";
    if (error.status >= 300 && error.status < 400) return shownLine(error.message, 500);
    return `answered with HTTP ${error.status}${text}`;
  }
  const pages = pagesNeeded(error).map(({ url }) => url);
  if (pages.length > 0) return shownLine(`a person has to open ${pages.join(" and ")} first`, 1000);
  const chain = causes(error);
  const innermost = chain.at(-1);
  const last = innermost instanceof AggregateError ? innermost.errors[0] : innermost;
  // What the built-in `fetch` throws where there was no connection.
  const isNetwork = chain.slice(0, -1).some((one) => one instanceof TypeError);
  const words = shownLine(last instanceof Error ? last.message || last.name : String(last), 1000);
  return isNetwork ? `could not be reached: ${words}` : words;
}

/** The error and what it came from, the innermost last. */
function causes(error: unknown): unknown[] {
  const chain = [error];
  for (let cause = error; cause instanceof Error && cause.cause !== undefined && chain.length < 8; ) {
    cause = cause.cause;
    chain.push(cause);
  }
  return chain;
}
