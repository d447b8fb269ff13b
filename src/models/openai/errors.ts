/** Maps an error of an OpenAI-compatible server to a `ModelErrorKind`. Messages are the server's own words. */

import type { IncomingHttpHeaders } from "node:http";
import type { ModelErrorKind } from "../../core/events.ts";
import { ModelError } from "../../core/ports.ts";
import { serverError } from "../http/errors.ts";

/** `metadata`: at OpenRouter, with what the host behind it said. */
type WireError = { message?: unknown; type?: unknown; code?: unknown; metadata?: { raw?: unknown } | null };

/** The error of an answer with a bad status. `body` is JSON as a rule, else a proxy's page. */
export function answerError(
  status: number,
  body: string,
  headers: IncomingHttpHeaders,
  secret: string,
): ModelError {
  return errorOf(status, wireErrorOf(body), headers, secret);
}

/** The error in the middle of a stream: it has no status, but a code or a type that stands for one. */
export function streamError(error: unknown, secret: string): ModelError {
  const wire = typeof error === "object" && error ? (error as WireError) : { message: error };
  return errorOf(statusOf(wire), wire, {}, secret);
}

function errorOf(status: number, wire: WireError, headers: IncomingHttpHeaders, secret: string): ModelError {
  const behind = wordsOf(wire.metadata?.raw);
  const said = wordsOf(wire.message) || `the server answered ${status}`;
  const message = (behind ? `${said}: ${behind}` : said).slice(0, 1000);
  const general = serverError({ status, message, headers }, secret);
  const kind = kindOf(status, `${wire.code} ${wire.type}`, message);
  if (!kind) return general;
  return new ModelError(kind, general.message, { status });
}

/** A message in words: most send a string, Mistral and vLLM a list of the fields that they refuse. */
function wordsOf(message: unknown): string {
  if (Array.isArray(message)) return message.map(wordsOf).join("; ");
  if (typeof message !== "object" || !message) return message ? String(message) : "";
  const { detail, msg, loc } = message as { detail?: unknown; msg?: unknown; loc?: unknown };
  if (detail !== undefined) return wordsOf(detail);
  if (typeof msg !== "string") return JSON.stringify(message);
  return Array.isArray(loc) ? `${loc.join(".")}: ${msg}` : msg;
}

/** Codes that only these servers send; the rest goes by status. */
function kindOf(status: number, code: string, message: string): ModelErrorKind | undefined {
  // Spent credit comes as 429, and waiting does not help.
  if (/insufficient_quota|billing_hard_limit/.test(code)) return "credentials";
  // llama.cpp says it with the status of an accident, and trying again does not help.
  if (/image input is not supported/i.test(message)) return "bad_request";
  const full = /context_length_exceeded|exceed_context_size/.test(code);
  if (full || (status === 400 && /maximum context length|context (size|length)/i.test(message)))
    return "context_full";
  // Reasoning of Responses that was altered, or made by another model.
  if (/invalid_encrypted_content/.test(code)) return "bound_thinking";
  return undefined;
}

function statusOf({ code, type }: WireError): number {
  const number = Number(code);
  if (number >= 400 && number < 600) return number;
  const words = `${code} ${type}`;
  if (/rate_limit|quota/.test(words)) return 429;
  if (/authentication|api_key|permission/.test(words)) return 401;
  if (/overloaded/.test(words)) return 529;
  return /invalid|context|policy|image|residency/.test(words) ? 400 : 500;
}

/** `{error: {…}}`, a list of it (Gemini), `{error: "…"}` or the error itself; anything else is the message. */
function wireErrorOf(body: string): WireError {
  try {
    const [parsed] = [JSON.parse(body)].flat();
    const error = parsed?.error ?? parsed?.detail ?? parsed;
    return typeof error === "object" && error && !Array.isArray(error) ? error : { message: error };
  } catch {
    return { message: body.trim() };
  }
}
