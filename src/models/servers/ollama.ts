/** Guards a model on Ollama, which cuts a prompt that does not fit without a word: it is refused here instead. */

import { ModelError } from "../../core/ports.ts";
import { post, textOf } from "../http/post.ts";
import { askServer, type Server } from "./ask.ts";

/**
 * Returns the window of the loaded model, loading it first: the request that follows would wait for that anyway.
 * Undefined where the server does not tell. Never rejects.
 */
export async function loadedWindow(
  server: Server,
  model: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const before = (await askServer(server, model, signal))[model];
    if (before && !before.loading) return before.window;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ model, stream: false });
    await textOf(await post(new URL("/api/generate", server.url), { headers, body, signal }));
    return (await askServer(server, model, signal))[model]?.window;
  } catch {
    return undefined;
  }
}

/** Throws `ModelError` for a body that would be cut. Four bytes count as a token; an image as 1,500. */
export function refuseCut(body: string, window: number): void {
  const words = body.replace(/data:[\w/+.-]+;base64,[\w+/=]+/g, "x".repeat(6000));
  const tokens = Math.ceil(Buffer.byteLength(words) / 4);
  if (tokens <= window) return;
  throw new ModelError(
    "context_full",
    `prompt is too long: ${tokens} tokens > ${window} maximum, and Ollama would cut it without a word: raise OLLAMA_CONTEXT_LENGTH where ollama serve runs`,
  );
}
