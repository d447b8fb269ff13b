/** Maps a failed request to a `ModelErrorKind` (provider-facts §1). Messages are the server's own words. */

import type { IncomingHttpHeaders } from "node:http";
import type { ModelErrorKind } from "../../core/events.ts";
import { ModelError } from "../../core/ports.ts";
import type { Answer } from "./post.ts";

/** The error that a server sent. `code`: the reason in a word, where it gives one. */
type Refusal = { status: number; message: string; code?: string | undefined; headers?: IncomingHttpHeaders };

/** An `error` event inside a stream has a type and no status. */
const statuses: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: 529,
};

/** Maps an error type to the status that it would have had. */
export function statusOfType(type: string | undefined): number {
  return statuses[type ?? ""] ?? 500;
}

/** The `ModelError` for what a server said. `secret` is blotted out of the text, unless it is a mere word. */
export function serverError({ status, message, code, headers = {} }: Refusal, secret: string): ModelError {
  const text = withoutSecret(redirectText(status, headers) ?? pageText(message) ?? message, secret);
  const retryAfterMs = retryAfter(headers);
  return new ModelError(kindOf(status, text, code), text, {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Throws `ModelError` for an answer that is no stream: a page of a proxy, or JSON of something that is not the API. */
export function checkStream({ status, headers }: Answer): void {
  const type = headers["content-type"] ?? "";
  if (!/html|^application\/json/.test(type)) return;
  const what = type.startsWith("application/json") ? "JSON" : "a web page";
  throw new ModelError(
    "bad_request",
    `${what} (${type}) came instead of a stream: no model answers at this address`,
    {
      status,
    },
  );
}

/** Names where a server sends us instead of answering: a page to sign in at, as a rule. Undefined for other answers. */
function redirectText(status: number, { location }: IncomingHttpHeaders): string | undefined {
  if (status < 300 || status > 399) return undefined;
  const target = location && URL.canParse(location) ? new URL(location).origin : location;
  return `a redirect${target ? ` to ${target.slice(0, 200)}` : ""} came instead of an answer, perhaps to a page for signing in`;
}

/** Says in a few words what page came; undefined for text that is none. */
function pageText(message: string): string | undefined {
  if (!/^\s*(?:<!doctype html|<html)/i.test(message)) return undefined;
  const title = /<title[^>]*>([^<]{1,100})/i.exec(message)?.[1]?.replace(/\s+/g, " ").trim();
  return `a web page${title ? ` ("${title}")` : ""} came instead of an answer of the API`;
}

/** The `ModelError` for an error of the network, or of a stream that cannot be read. */
export function modelErrorOf(thrown: unknown, secret: string): ModelError {
  const text = withoutSecret(innermost(thrown as Error), secret);
  if (thrown instanceof SyntaxError) return new ModelError("incomplete", `unreadable stream: ${text}`);
  return new ModelError("network", text);
}

function withoutSecret(text: string, secret: string): string {
  return secret.length < 8 ? text : text.replaceAll(secret, "[key]");
}

function kindOf(status: number, text: string, code: string | undefined): ModelErrorKind {
  // A spent limit comes as 429, and waiting does not help.
  if (code?.endsWith("_spend_limit_reached")) return "credentials";
  if (/context_length_exceeded|exceed_context_size/.test(code ?? "")) return "context_full";
  if (status === 400 && /prompt is too long|context window/i.test(text)) return "context_full";
  if (status === 400 && /invalid\W+signature\W+in\W+thinking/i.test(text)) return "bound_thinking";
  if (status === 401 || status === 402 || status === 403) return "credentials";
  if (status === 404) return "not_found";
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limit";
  if (status === 529) return "overloaded";
  return status >= 500 || status === 408 || status === 409 ? "server" : "bad_request";
}

/** Milliseconds that the server asks us to wait; `retry-after` is in seconds or a date. */
function retryAfter(headers: IncomingHttpHeaders): number | undefined {
  const ms = Number.parseFloat(String(headers["retry-after-ms"] ?? ""));
  if (ms >= 0) return ms;
  const value = headers["retry-after"];
  if (!value) return undefined;
  const wait = /^[\d.]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** "fetch failed" says nothing: the reason is the innermost cause, and of several attempts the first. */
function innermost(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return innermost(error.errors[0]);
  if (error.cause instanceof Error) return innermost(error.cause);
  const { code } = error as { code?: unknown };
  // Node's word for a server that hung up in the middle of an answer.
  if (code === "ECONNRESET" && error.message === "aborted") return "the connection was closed by the server";
  return error.message || String(code ?? error.name);
}
