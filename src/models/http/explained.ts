/** Says of a failed request who answered what, and what to do. Wraps any model. */

import { type Model, ModelError } from "../../core/ports.ts";
import { type Access, urlVariableOf } from "../access.ts";
import type { Provider } from "../providers.ts";

type From = { row: Provider; access: Access };

/** The same model; errors that end a turn get the host before the server's words and the remedy after them. */
export function explained(model: Model, from: From): Model {
  return {
    ...model,
    send: (request, body, onPart, signal) =>
      model.send(request, body, onPart, signal).catch((error: unknown) => {
        throw error instanceof ModelError ? told(error, model.card.id, from) : error;
      }),
  };
}

function told(error: ModelError, id: string, from: From): ModelError {
  const remedy = remedyFor(error, id, from);
  if (remedy === undefined) return error;
  const status = error.status ? ` (${error.status})` : "";
  const words = error.message.replace(/[.:]$/, "");
  return new ModelError(error.kind, `${hostOf(from.access)}${status}: ${words}. ${remedy}`, {
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    partial: error.partial,
  });
}

const signIn = {
  aws: "Set AWS_BEARER_TOKEN_BEDROCK, or sign in with the aws tools (AWS_PROFILE names a profile)",
  google: "Sign in: gcloud auth application-default login",
};

function hostOf({ url }: Access): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Undefined for errors that the agent handles itself, or that a person caused. */
function remedyFor({ kind, status }: ModelError, id: string, { row, access }: From): string | undefined {
  const host = access.isOwnHost ? "" : `, and ${urlVariableOf(row)}`;
  const key = access.variable ?? row.keys[0] ?? "the key";
  switch (kind) {
    case "credentials":
      if (row.signer && !access.key && status === undefined) return signIn[row.signer];
      if (status === 402 || status === 429) return `Add credit with ${row.name}, or choose another model`;
      if (status === 403) return `Check that ${key} may use ${id}${host}`;
      return `Check ${key}${host}`;
    case "not_found":
      return `Check the name ${id}${host}: sawtooth models ${row.name} lists the models`;
    case "rate_limit":
      return "Wait a while, or choose another model";
    case "overloaded":
    case "server":
      return `${row.name} cannot answer now: try again later, or choose another model`;
    case "network":
    case "idle":
      return row.local
        ? `Start ${row.name} there, or name its address in ${urlVariableOf(row)}`
        : `Check the network${host}`;
    case "incomplete":
      return `Try again; if it happens each time, look for a proxy that cuts streams${host}`;
    case "bad_request":
      // No answer of an API: a proxy's, a gateway's, or that of a wrong address.
      return status !== undefined && status < 400
        ? `Check the address${host}, and a proxy that may stand between`
        : undefined;
    default:
      return undefined;
  }
}
