/** Switches from one session to the next: lists the choices, and opens the chosen one. */

import { type Conversation, type ConversationOptions, converse } from "../../app/conversation.ts";
import { sessionRoot } from "../../app/opening/folders.ts";
import { sessionsUnder } from "../../app/stored-sessions.ts";
import { exitCodeOf, NoModel, UsageError } from "../../core/errors.ts";
import type { EventBody } from "../../core/events.ts";
import { isEmpty, sessionsRequest } from "../../tui/dialogs/stored.ts";
import type { Beginning, Tui } from "../../tui/ports/session.ts";
import type { Open, PickRequest } from "../../tui/ports/sessions.ts";
import type { Flags } from "../arguments/options.ts";

/** The next session: how it is opened, and how it begins on screen. */
export type NextSession = {
  flags: Flags;
  events?: number | undefined;
  append?: EventBody[] | undefined;
  begin: Beginning;
};

/** Returns the next session after leaving one. `flags`: of the command line. */
export function nextAfter(leave: Open, flags: Flags): NextSession {
  const { events, append, draft } = leave;
  return { flags: flagsFor(flags, leave), events, append, begin: { draft } };
}

/** The list to choose from before there is a session. Throws `UsageError` when there is nothing in it. */
export function listBefore(flags: Flags): PickRequest {
  const cwd = process.cwd();
  const request = sessionsRequest(
    sessionsUnder(sessionRoot({ flags, env: process.env, cwd }), cwd),
    Date.now(),
  );
  if (!isEmpty(request)) return request;
  throw new UsageError("no stored session yet: start one without --resume");
}

type SessionContext = Omit<ConversationOptions, "flags" | "cwd" | "env" | "events"> & {
  flags: Flags;
  last: string | undefined;
};

/**
 * Opens the first session. Where no model can be used the person chooses one, which `chosen` gets; who leaves instead
 * gets the error.
 */
export async function openFirst(
  next: NextSession,
  context: SessionContext,
  { tui, chosen }: { tui: Tui; chosen: { model?: string } },
): Promise<Conversation> {
  for (let { flags } = next; ; ) {
    try {
      return await openOr({ ...next, flags }, context);
    } catch (error) {
      if (!(error instanceof NoModel)) throw error;
      const { firstStart } = await import("./first-start.ts");
      const way = await firstStart({ tui, flags, env: process.env, missing: error });
      if (way === undefined) throw error;
      if (way === "named") continue;
      flags = { ...flags, model: way.model };
      chosen.model = way.model;
    }
  }
}

/** Opens the next session. On failure it continues the last one, if there was one, and reports the reason. */
export async function openOr(
  next: NextSession,
  { flags, last, ...rest }: SessionContext,
): Promise<Conversation> {
  const context = { cwd: process.cwd(), env: process.env, ...rest };
  try {
    const conversation = await converse({ flags: next.flags, events: next.events, ...context });
    for (const body of next.append ?? []) conversation.run.agent.log.append(body);
    return conversation;
  } catch (error) {
    if (last === undefined || exitCodeOf(error) === undefined) throw error;
    rest.warn((error as Error).message);
    return converse({ flags: flagsFor(flags, { type: "open", resume: last }), ...context });
  }
}

/** Removes model and window from the flags for a stored session, which continues as it was. */
function flagsFor(flags: Flags, { resume, fork = false }: Open): Flags {
  const { resume: _, ...fresh } = flags;
  const { model, effort, context, window, appendSystemPrompt, ...rest } = fresh;
  if (resume === undefined) return { ...fresh, continueNewest: false, fork };
  return { ...rest, continueNewest: false, fork, resume };
}
