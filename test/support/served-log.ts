/** Serves the report of a session with given events, by the program itself. */

import { join } from "node:path";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import { createSession } from "../../src/session/store.ts";
import { makeWorkspace, start } from "./sawtooth.ts";

/** Stores a session, which stays open until `end`, and serves its page at `url`. */
export async function servedLog(events: readonly LogEvent[]): Promise<{ url: string; end(): Promise<void> }> {
  const workspace = makeWorkspace();
  const root = join(workspace.home, "sessions");
  const session = await createSession({ root, cwd: workspace.cwd, clock: Date.now, warn: () => {} });
  for (const { seq: _, at: __, ...body } of events) {
    const own = body.type === "session_started" ? { sessionId: session.id, folder: session.folder } : {};
    session.log.append({ ...body, ...own } as EventBody);
  }
  const program = start(workspace, ["report", session.id, "--session-dir", root, "--serve"]);
  await program.until("Ctrl-C");
  return {
    url: program.stdout().split("\n")[0] ?? "",
    async end() {
      program.child.kill("SIGKILL");
      await program.ended;
      session.close();
      workspace.remove();
    },
  };
}
