/** Keeps what a person saw of each server: by the hash of its entry as it is written, whatever its variables are. */

import { createHash } from "node:crypto";
import { readCatalogue, storeCatalogue } from "../../mcp/catalogue.ts";
import type { SeenOffers } from "../../mcp/servers.ts";

type Entries = Readonly<Record<string, object & { changes?: unknown }>>;

/** `folder`: of the catalogues. */
export function seenOffers(entries: Entries, folder: string): SeenOffers {
  const keyOf = (name: string) => `${hashOf([name, entries[name]])}.seen`;
  return {
    of: (name) => readCatalogue(folder, keyOf(name)),
    keep: (name, offer) => storeCatalogue(folder, keyOf(name), offer),
    isFree: (name) => entries[name]?.changes === "trusted",
  };
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
