/** What went wrong with a request, as one of our kinds (provider-facts §1). Messages are the server's own words. */

import type { ModelErrorKind } from "../../core/events.ts";
import { ModelError } from "../../core/ports.ts";

/** What the SDK's errors have in common; `headers` is set when the server answered at all. */
type SdkError = Error & {
  status?: number;
  type?: string | null;
  errorCode?: string | null;
  apiMessage?: string | null;
  headers?: Headers;
};

/** An `error` event inside a stream has a type and no status. */
const statusOfType: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: 529,
};

/** The `ModelError` for anything that the SDK throws. `secret` is blotted out of the text, unless it is a mere word. */
export function modelErrorOf(thrown: unknown, secret: string): ModelError {
  const error = thrown as SdkError;
  const status = error.status ?? (error.headers ? (statusOfType[error.type ?? ""] ?? 500) : undefined);
  const told = error.apiMessage ?? innermost(error);
  const text = secret.length < 8 ? told : told.replaceAll(secret, "[key]");
  if (error instanceof SyntaxError) return new ModelError("incomplete", `unreadable stream: ${text}`);
  if (status === undefined) return new ModelError("network", text);
  const retryAfterMs = retryAfter(error.headers);
  return new ModelError(kindOf(status, text, error.errorCode), text, {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function kindOf(status: number, text: string, code: string | null | undefined): ModelErrorKind {
  // A spent limit comes as 429, and waiting does not help.
  if (code?.endsWith("_spend_limit_reached")) return "credentials";
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
function retryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (ms >= 0) return ms;
  const value = headers?.get("retry-after");
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
