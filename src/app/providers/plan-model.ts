/** A model that a ChatGPT plan pays for: each request has the token of the sign-in, which is refreshed when it ends. */

import { type Model, ModelError } from "../../core/ports.ts";
import { CredentialsError } from "../../credentials/owned-file.ts";
import type { Environment } from "../../models/access.ts";
import { tokenSource } from "../credentials/chatgpt.ts";

/** `token`: as it is when the model is chosen. One of the environment stays as it is. */
export function planModel(open: (token: string) => Model, token: string, env: Environment): Model {
  const source = tokenSource(env, token);
  if (!source) return open(token);
  const next = (refused: string | undefined, signal: AbortSignal) =>
    source(refused, signal).catch((error: unknown) => {
      throw error instanceof CredentialsError ? new ModelError("credentials", error.message) : error;
    });
  return {
    ...open(token),
    async send(request, body, onPart, signal) {
      const first = await next(undefined, signal);
      try {
        return await open(first).send(request, body, onPart, signal);
      } catch (error) {
        if (!(error instanceof ModelError) || error.kind !== "credentials") throw error;
        return open(await next(first, signal)).send(request, body, onPart, signal);
      }
    },
  };
}
