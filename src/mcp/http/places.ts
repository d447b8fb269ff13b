/** Decides which addresses the requests about a server may go to: its own origin, and what that names in public. */

import { lookup } from "node:dns/promises";
import { addressClass, isAddress } from "../../permissions/sandbox/addresses.ts";

/** Thrown for a request that is not made. The message is one line. */
class PlaceRefused extends Error {}

/** Refuses a request that may not be made. Rejects with `PlaceRefused`. */
export type CheckPlace = (url: URL) => Promise<void>;

/**
 * Returns the check for a server. The origin that the person wrote is trusted, wherever it is. Others, which the server
 * names (where to sign in), need TLS and a public address, unless the server itself is on this machine or a private
 * network. With TLS a name that changes its address after the check reaches nobody who can prove to be it.
 */
export function placesOf(server: string): CheckPlace {
  const { origin, hostname } = new URL(server);
  let isInside: Promise<boolean> | undefined;
  return async (url) => {
    if (url.origin === origin) return;
    isInside ??= isPrivate(hostname);
    if (await isInside) return;
    if (url.protocol !== "https:")
      throw new PlaceRefused(`the server names the address ${url.origin}, which has no TLS`);
    if (await isPrivate(url.hostname))
      throw new PlaceRefused(`the server names the address ${url.origin}, which is not public`);
  };
}

/** Returns true when one of the host's addresses is not public. */
async function isPrivate(hostname: string): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isAddress(host)) return addressClass(host) !== "public";
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => addressClass(address) !== "public");
}
