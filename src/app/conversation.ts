/**
 * A session to talk with: prompts, steering, interruption, and everything that happens in it. What the screen, headless
 * runs, editors and programs have in common.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { UserBlock } from "../core/blocks.ts";
import type { PermissionMode } from "../core/decision.ts";
import type { LogEvent, TurnEnd, UserMessage } from "../core/events.ts";
import type { ModelPart } from "../core/ports.ts";
import { runMessage } from "./messages/run-message.ts";
import { openRun } from "./open-session.ts";
import type { OpenOptions, Person, Run } from "./session.ts";

/** Something that happens in a session: an event of its log, a part of a reply as it streams in, the output of a running call. */
export type Happening =
  | { type: "event"; event: LogEvent }
  | { type: "part"; part: ModelPart }
  | { type: "progress"; toolUseId: string; text: string };

/** The choices made since the session was opened. `allow`: rules for as long as it is open. */
export type Chosen = { mode?: PermissionMode; model?: string; allow: string[] };

export type Conversation = {
  run: Run;
  chosen: Chosen;
  /** True while a turn runs. */
  isBusy(): boolean;
  /**
   * Sends a message and runs the turn to its end. While one runs the message steers it: the model reads it at its next
   * step, and both promises resolve when that turn ends.
   */
  prompt(content: UserBlock[]): Promise<TurnEnd>;
  /** Ends the running turn, if any; resolves once nothing of it runs. */
  interrupt(): Promise<void>;
  /** Calls the listener with whatever happens from now on; returns how to stop that. */
  follow(listener: (happening: Happening) => void): () => void;
  /** Interrupts, ends every process of the session, and closes its log. */
  close(): Promise<void>;
};

export type ConversationOptions = Omit<OpenOptions, "person" | "driver"> & {
  /** Decides a call that rules and mode leave open. */
  ask: Person["ask"];
  /** Gets a bug of ours that ended a turn. */
  onBug?(error: unknown): void;
};

/** Milliseconds that a turn has to end in when its session is closed. */
const patienceMs = 2500;

/** Opens a session, new or stored as the flags say. Throws as `openRun` does. */
export async function converse({ ask, onBug, ...options }: ConversationOptions): Promise<Conversation> {
  const chosen: Chosen = { allow: [] };
  const steering: UserMessage[] = [];
  const listeners = new Set<(happening: Happening) => void>();
  const tell = (happening: Happening): void => {
    for (const listener of listeners) listener(happening);
  };
  const person: Person = {
    ask,
    mode: () => chosen.mode,
    allowed: chosen.allow,
    takeSteering: () => steering.splice(0),
    onPart: (part) => tell({ type: "part", part }),
    onProgress: (toolUseId, text) => tell({ type: "progress", toolUseId, text }),
  };
  const run = await openRun({ ...options, person });
  run.agent.log.subscribe((event) => tell({ type: "event", event }));
  let turn: { stop: AbortController; ended: Promise<TurnEnd> } | undefined;
  const begin = async (content: UserBlock[], signal: AbortSignal): Promise<TurnEnd> => {
    try {
      for (let next = content; ; ) {
        const reason = await runMessage(run, next, signal, onBug);
        const late = steering.splice(0).map((message) => message.content);
        next = (reason === "completed" ? late.pop() : undefined) ?? [];
        // Nothing is lost: what came too late for this turn is there for the next one.
        for (const message of late) run.say(message);
        if (next.length === 0) return reason;
      }
    } finally {
      turn = undefined;
    }
  };
  const interrupt = async (): Promise<void> => {
    turn?.stop.abort("interrupted");
    await turn?.ended.catch(() => undefined);
  };
  return {
    ...{ run, chosen, interrupt },
    isBusy: () => turn !== undefined,
    prompt: async (content) => {
      while (turn?.stop.signal.aborted) await turn.ended.catch(() => undefined);
      if (turn) steering.push({ content });
      else {
        const stop = new AbortController();
        turn = { stop, ended: Promise.resolve().then(() => begin(content, stop.signal)) };
      }
      return turn.ended;
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      await Promise.race([interrupt(), sleep(patienceMs, undefined, { ref: false })]);
      await run.close();
    },
  };
}
