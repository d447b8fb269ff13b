/** The parts of the tool `fetch`, and which sessions have it. */

import type { EventLog } from "../../core/ports.ts";
import { lastOf, started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { offersFetch } from "../../permissions/fetch.ts";
import { knownUrls } from "../../permissions/sandbox/known-urls.ts";
import type { FetchParts } from "../../tools/fetch/parts.ts";
import type { LazyNetwork } from "./lazy-network.ts";

type Standing = { allow(): string[]; allowEverywhere(): string[]; deny(): string[] };

/**
 * Returns true for a session that has the tool: a new one where rules let something be fetched; a stored one keeps the
 * tools that it began with.
 */
export function offersPages({ log }: { log: EventLog }, standing: Standing): boolean {
  const events = log.events();
  if (events.length > 0) return started(events).tools.some(({ name }) => name === toolNames.fetch);
  return offersFetch([...standing.allow(), ...standing.allowEverywhere()], standing.deny());
}

type Opened = {
  log: EventLog;
  network: Pick<LazyNetwork, "load" | "flush">;
  redact(text: string): string;
};

/** Returns the parts of the tool `fetch`. */
export function fetchParts({ log, network, redact }: Opened): FetchParts {
  const known = knownUrls();
  return {
    isInvented: (url) => !known(log.events())(url),
    isConfirmed: (call) => {
      const decision = lastOf(log.events(), "permission_decided");
      return decision?.toolUseId === call && (decision.by === "user" || decision.by === "driver");
    },
    holdsSecret: (url) => redact(url) !== url,
    connect: async (wanted, signal) => (await network.load()).connect(wanted, signal),
    flush: () => network.flush(),
  };
}
