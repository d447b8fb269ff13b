/**
 * A session to talk with: prompts, steering, interruption, and everything that happens in it. The one way in for the
 * screen, headless runs, repairs, editors and programs.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { UserBlock } from "../core/blocks.ts";
import type { PermissionMode } from "../core/decision.ts";
import type { TurnEnd, UserMessage } from "../core/events.ts";
import type { Happening, ModelPart } from "../core/ports.ts";
import { runMessage } from "./messages/run-message.ts";
import { openRun } from "./open-session.ts";
import type { Driver, OpenOptions, Person, Run, SettleHeadless } from "./session.ts";

/** The choices made since the program began. `allow`: rules for as long as it runs. */
export type Chosen = { mode?: PermissionMode; model?: string; allow: string[] };

export type Conversation = {
  run: Run;
  chosen: Chosen;
  /** True while a turn runs. */
  isBusy(): boolean;
  /**
   * Sends a message and runs the turn to its end. While one runs the message steers it: the model reads it at its next
   * step, and both promises resolve when that turn ends. `signal` interrupts a turn that begins here, with its reason.
   */
  prompt(content: UserBlock[], signal?: AbortSignal): Promise<TurnEnd>;
  /** Gives a message to the running turn. Returns false when none runs, or it is being interrupted. */
  steer(content: UserBlock[]): boolean;
  /** Ends the running turn, if any; resolves once nothing of it runs. */
  interrupt(): Promise<void>;
  /** Calls the listener with whatever happens from now on; returns how to stop that. */
  follow(listener: (happening: Happening) => void): () => void;
  /** Interrupts, ends every process of the session, and closes its log. */
  close(): Promise<void>;
};

export type ConversationOptions = Omit<OpenOptions, "person" | "driver"> & {
  /** Asks about a call that rules and mode leave open. Absent where nobody is there: it is denied, unless `settle` decides. */
  ask?: Person["ask"] | undefined;
  /** As in `OpenOptions`: for a program that decides without being a person. */
  settle?: SettleHeadless | undefined;
  /** Takes messages that wait elsewhere for the next step, besides those given to `steer`. */
  takeSteering?: Person["takeSteering"] | undefined;
  onWaiting?: Person["onWaiting"];
  /** Choices made in earlier sessions, which go on to count; this session adds to them. By default none. */
  chosen?: Chosen;
  /** Gets a bug of ours that ended a turn. */
  onBug?(error: unknown): void;
};

/** Returns who is at the other end of a session: somebody who can be asked, or a program. */
function talking(
  follower: Required<Omit<Driver, "settle" | "mode">>,
  { ask, settle, onWaiting, chosen }: ConversationOptions & { chosen: Chosen },
): Pick<OpenOptions, "person" | "driver"> {
  const mode = () => chosen.mode;
  if (!ask) return { driver: { ...follower, settle, mode } };
  return { person: { ...follower, ask, onWaiting, mode, allowed: chosen.allow } };
}

/** Milliseconds that a turn has to end in when its session is closed. */
const patienceMs = 2500;

/** The turns of a session, one after the other. `steering`: messages that the model has not read yet. */
function turnsOver(
  run: Run,
  steering: UserMessage[],
  onBug: ConversationOptions["onBug"],
): Pick<Conversation, "isBusy" | "prompt" | "steer" | "interrupt"> {
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
  const steer = (content: UserBlock[]): boolean => {
    if (!turn || turn.stop.signal.aborted) return false;
    steering.push({ content });
    return true;
  };
  return {
    ...{ interrupt, steer },
    isBusy: () => turn !== undefined,
    prompt: async (content, outer) => {
      while (turn?.stop.signal.aborted) await turn.ended.catch(() => undefined);
      if (!turn || !steer(content)) {
        const stop = new AbortController();
        const signal = outer ? AbortSignal.any([stop.signal, outer]) : stop.signal;
        turn = { stop, ended: Promise.resolve().then(() => begin(content, signal)) };
      }
      return turn.ended;
    },
  };
}

export type Converse = (options: ConversationOptions) => Promise<Conversation>;

/** Opens a session, new or stored as the flags say. Throws as `openRun` does. */
export async function converse(options: ConversationOptions): Promise<Conversation> {
  const { chosen = { allow: [] }, takeSteering, onBug } = options;
  const steering: UserMessage[] = [];
  const listeners = new Set<(happening: Happening) => void>();
  const tell = (happening: Happening): void => {
    for (const listener of listeners) listener(happening);
  };
  const follower = {
    takeSteering: async () => [...steering.splice(0), ...((await takeSteering?.()) ?? [])],
    onPart: (part: ModelPart) => tell({ type: "part", part }),
    onProgress: (toolUseId: string, text: string) => tell({ type: "progress", toolUseId, text }),
  };
  const run = await openRun({ ...options, ...talking(follower, { ...options, chosen }) });
  run.agent.log.subscribe((event) => tell({ type: "event", event }));
  const turns = turnsOver(run, steering, onBug);
  return {
    ...{ run, chosen, ...turns },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      await Promise.race([turns.interrupt(), sleep(patienceMs, undefined, { ref: false })]);
      await run.close();
    },
  };
}
