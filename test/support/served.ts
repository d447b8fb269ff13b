/** The fixture for headless tests: a temporary workspace and the strict server that plays its model. */

import { onTestFinished } from "vitest";
import type { Turns } from "../../src/models/playback/script.ts";
import { type MockOptions, type MockServer, startMockServer } from "./mock-server.ts";
import type { WireBody } from "./mock-wire.ts";
import { makeWorkspace, type Workspace } from "./sawtooth.ts";

export type Served = { server: MockServer; workspace: Workspace };

/** Removed when the test is over. `makeIn`: makes the workspace, given the server's address. */
export async function serve(
  turns: Turns<WireBody>,
  options: Omit<MockOptions, "turns"> = {},
  makeIn: (url: string) => Workspace = makeWorkspace,
): Promise<Served> {
  const server = await startMockServer({ turns, ...options });
  const workspace = tempWorkspace(() => makeIn(server.url));
  onTestFinished(() => server.close());
  return { server, workspace };
}

/** A fresh workspace that is removed when the test is over. */
export function tempWorkspace(make: () => Workspace = makeWorkspace): Workspace {
  const workspace = make();
  onTestFinished(workspace.remove);
  return workspace;
}

/** A call of the shell, for scripts. */
export const bash = (command: string) => ({ bash: { command } });
