/** Carries messages to and from a server at an address: streamable HTTP, by the SDK. */

import { setTimeout as sleep } from "node:timers/promises";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Channel } from "../channel.ts";
import type { HttpServer } from "../configuration.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { placesOf } from "./places.ts";

type Options = NonNullable<ConstructorParameters<typeof StreamableHTTPClientTransport>[1]>;
type Auth = Options["authProvider"];

/** Milliseconds that a server gets to hear of the end of its session. */
const farewellMs = 500;

/** A redirect is followed within the origin only, so no header of the person reaches another one. */
export function httpChannel(
  { url, headers }: Pick<HttpServer, "url" | "headers">,
  authProvider: Auth,
): Channel & { transport: StreamableHTTPClientTransport } {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(placesOf(url)),
    requestInit: { headers },
    redirectPolicy: "same-origin",
    onInsufficientScope: "reauthorize",
    ...(authProvider ? { authProvider } : {}),
  });
  return {
    transport,
    trouble: () => "",
    hasEnded: () => false,
    async end() {
      await Promise.race([transport.terminateSession().catch(() => {}), sleep(farewellMs)]);
      await transport.close().catch(() => {});
    },
  };
}
