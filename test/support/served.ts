/** A workspace and the strict server that plays its model: what tests of the headless program begin with. */

import { onTestFinished } from "vitest";
import type { Turns } from "../../src/models/playback/script.ts";
import { type MockOptions, type MockServer, startMockServer } from "./mock-server.ts";
import type { WireBody } from "./mock-wire.ts";
import { makePlace, type Place } from "./sawtooth.ts";

export type Served = { server: MockServer; place: Place };

/** Removed when the test is over. `makeIn`: makes the workspace, given the server's address. */
export async function serve(
  turns: Turns<WireBody>,
  options: Omit<MockOptions, "turns"> = {},
  makeIn: (url: string) => Place = makePlace,
): Promise<Served> {
  const server = await startMockServer({ turns, ...options });
  const place = madePlace(() => makeIn(server.url));
  onTestFinished(() => server.close());
  return { server, place };
}

/** A fresh workspace that is removed when the test is over. */
export function madePlace(make: () => Place = makePlace): Place {
  const place = make();
  onTestFinished(place.remove);
  return place;
}

/** A call of the shell, for scripts. */
export const bash = (command: string) => ({ bash: { command } });
