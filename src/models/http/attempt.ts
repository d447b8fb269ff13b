/** Makes one attempt at a reply: reads the stream to its end, or gives up when it falls silent. */

import type { AssistantBlock } from "../../core/blocks.ts";
import { ModelError, type ModelReply } from "../../core/ports.ts";

/** Milliseconds without a content event after which a request is given up, where nothing else is said. */
const usualIdleMs = 90_000;
/** Parts that this time is counted in: while the process stands still, as after Ctrl-Z, one of them passes at most. */
const idleParts = 10;
/** How long a whole reply waits for the server to end its response, so that the connection can be used again. */
const lingerMs = 1000;

/** Reads a stream into a reply. `take` says whether the chunk was progress: pings are none (provider-facts §5). */
export type Assembly<Chunk> = {
  take(chunk: Chunk): boolean;
  /** Returns true when the reply is complete. */
  whole(): boolean;
  /** Throws `ModelError` when the stream ended before its end. */
  reply(): ModelReply;
  /** Returns the part of an interrupted reply that may be kept. */
  partial(): AssistantBlock[];
};

/** `open` sends the request and gives its stream. Throws `ModelError`. */
export async function attempt<Chunk>(
  open: (signal: AbortSignal) => AsyncIterable<Chunk>,
  assembly: Assembly<Chunk>,
  { signal, idleMs = usualIdleMs }: { signal: AbortSignal; idleMs?: number | undefined },
): Promise<ModelReply> {
  const silence = new AbortController();
  let silentParts = 0;
  // The part in which the last event came is not whole.
  const idle = setInterval(() => ++silentParts > idleParts && silence.abort(), idleMs / idleParts);
  let lingering: NodeJS.Timeout | undefined;
  const either = AbortSignal.any([signal, silence.signal]);
  try {
    for await (const chunk of open(either)) {
      if (assembly.take(chunk)) silentParts = 0;
      if (assembly.whole()) lingering ??= setTimeout(() => silence.abort(), lingerMs);
    }
  } catch (error) {
    // After our own abort an error is expected; after the whole reply it changes nothing.
    if (!(error instanceof ModelError && (either.aborted || assembly.whole()))) throw error;
  } finally {
    clearInterval(idle);
    clearTimeout(lingering);
  }
  if (assembly.whole()) return assembly.reply();
  if (signal.aborted) throw new ModelError("aborted", "interrupted", { partial: assembly.partial() });
  if (silence.signal.aborted) throw new ModelError("idle", `no data for ${idleMs / 1000} s`);
  return assembly.reply();
}

/** Throws `ModelError`. A key that cannot stand in a header would be quoted in the error about it. */
export function checkAccess(credential: string | undefined, baseUrl: string | undefined): void {
  if (credential && !/^[\x21-\x7e]+$/.test(credential))
    throw new ModelError("credentials", "the API key contains characters that no key has: copy it again");
  if (baseUrl && !URL.canParse(baseUrl))
    throw new ModelError("bad_request", `the base URL of the API is not a URL: ${baseUrl}`);
}
