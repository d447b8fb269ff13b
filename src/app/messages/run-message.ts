/** Says a message in a session and runs the turn to its end. */

import { runTurn } from "../../agent/loop.ts";
import { resultText, type UserBlock } from "../../core/blocks.ts";
import type { TurnEnd } from "../../core/events.ts";
import type { Run } from "../session.ts";

/**
 * Says a message and runs the turn to its end. A bug of ours ends the turn as "error", with the log intact; `onBug`
 * gets it. A message that a hook of the user refuses is not said, and the turn ends as "hook".
 */
export async function runMessage(
  { agent, say, hooks }: Run,
  content: UserBlock[],
  signal: AbortSignal,
  onBug: (error: unknown) => void = () => {},
): Promise<TurnEnd> {
  const refused = await hooks?.beforePrompt(resultText(content), signal);
  if (refused !== undefined) {
    agent.log.append({ type: "turn_ended", reason: "hook", detail: refused });
    return "hook";
  }
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
