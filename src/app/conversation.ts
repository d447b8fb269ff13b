/** Running a message in a session: what the screen, headless runs and editors have in common. */

import { runTurn } from "../agent/loop.ts";
import type { UserBlock } from "../core/blocks.ts";
import type { PermissionMode } from "../core/decision.ts";
import type { TurnEnd } from "../core/events.ts";
import type { Run } from "./session.ts";

/**
 * Says a message and runs the turn to its end. A bug of ours ends the turn as "error", with the log intact; `onBug`
 * gets it.
 */
export async function runMessage(
  { agent, say }: Run,
  content: UserBlock[],
  signal: AbortSignal,
  onBug: (error: unknown) => void = () => {},
): Promise<TurnEnd> {
  say(content);
  try {
    return await runTurn(agent, signal);
  } catch (error) {
    onBug(error);
    const detail = error instanceof Error ? error.message : String(error);
    agent.log.append({ type: "turn_ended", reason: "error", detail });
    return "error";
  }
}

/** The choices made since the session was opened. `allow`: rules for as long as it is open. */
export type Chosen = { mode?: PermissionMode; model?: string; allow: string[] };
