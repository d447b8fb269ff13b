/**
 * Offers a waiting command to a person, who may take over its terminal. The time limit is paused until it is given
 * back.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { TakenTerminal, TerminalSize, WaitingCommand } from "../../../core/waiting-command.ts";
import { type RunningCommand, type Verdict, type WatchOptions, watch } from "./running-command.ts";
import { createScreen, type Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";

export type Handover = {
  port: WaitingCommand;
  isTaken(): boolean;
  taken: Promise<void>;
  /** Resolves with `port.over`. */
  over: Promise<void>;
  /** Withdraws the offer: nobody can take it any more. */
  withdraw(): void;
};

export type OnWaiting = (command: WaitingCommand) => number;

/** Offers the command as it waits now. The offer ends with the command, or when the terminal is given back. */
export function createHandover(running: RunningCommand, terminal: Terminal): Handover {
  const [taken, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const state = { taken: false, over: running.ended };
  const mirror = mirrorOf(running, terminal);
  const resize = ({ columns, rows }: TerminalSize) => {
    terminal.resize(columns, rows);
    void mirror.then((screen) => screen.resize({ columns, rows }));
  };
  const withdraw = () => {
    if (state.over) return;
    state.over = true;
    running.onPrinted = undefined;
    if (state.taken) resize(terminal);
    over.resolve();
  };
  void running.end.then(withdraw);
  let listener: ((bytes: Uint8Array) => void) | undefined;
  running.onPrinted = (bytes) => {
    if (!running.screen) void mirror.then((screen) => screen.write(bytes));
    listener?.(bytes);
  };
  const taker: TakenTerminal = {
    write(bytes) {
      if (state.over) return;
      // Typing counts as activity, although a password is not echoed.
      running.printed.at = Date.now();
      terminal.write(bytes);
    },
    resize: (size) => !state.over && resize(size),
    replay: async () => (await mirror).replay(),
    giveBack: withdraw,
  };
  const port: WaitingCommand = {
    command: running.command,
    view: async () => (await mirror).view(),
    over: over.promise,
    take(size, onBytes) {
      if (state.over || state.taken) return undefined;
      state.taken = true;
      listener = onBytes;
      resize(size);
      taken.resolve();
      return taker;
    },
  };
  return { port, isTaken: () => state.taken, taken: taken.promise, over: over.promise, withdraw };
}

/** Returns the screen a person would see; for a command that is not on the terminal itself, its terminal output. */
function mirrorOf({ screen, printed }: RunningCommand, { columns, rows }: Terminal): Promise<Screen> {
  if (screen) return Promise.resolve(screen);
  const { text } = printed;
  return createScreen(columns, rows).then((made) => {
    made.write(text);
    return made;
  });
}

export type Watched = {
  verdict: Verdict;
  /** The offer by which a command that waits can still be taken over. */
  handover?: Handover;
  /** True when a person had its terminal. */
  answered: boolean;
};

/**
 * Watches a command as `watch` does. A command that waits is offered to the person, if there is one, and watched again
 * once it was given back. The time limit only counts while nobody is waited for and nobody types.
 */
export async function watchWithPerson(
  running: RunningCommand,
  options: WatchOptions & { onWaiting?: OnWaiting | undefined },
): Promise<Watched> {
  const { onWaiting, signal, timeoutMs = 0 } = options;
  const { terminal } = running;
  let left = timeoutMs;
  let answered = false;
  for (;;) {
    const began = Date.now();
    const verdict = await watch(running, { ...options, timeoutMs: left });
    if (verdict !== "waiting" || !onWaiting || !terminal) return { verdict, answered };
    left = Math.max(1000, left - (Date.now() - began));
    const handover = createHandover(running, terminal);
    await takenOrNot(handover, running, { patienceMs: onWaiting(handover.port), signal });
    if (!handover.isTaken() && !running.ended && !signal.aborted) return { verdict, handover, answered };
    if (!handover.isTaken()) continue;
    answered = true;
    const afterwards = await watch(running, { ...options, timeoutMs: undefined, givenBack: handover.over });
    handover.withdraw();
    // The offer ends with the command; the next result tells the two apart.
    if (afterwards !== "waiting" && afterwards !== "ended") return { verdict: afterwards, answered };
  }
}

async function takenOrNot(
  handover: Handover,
  { end }: RunningCommand,
  { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
): Promise<void> {
  const enough = new AbortController();
  const wait = sleep(patienceMs, undefined, { signal: AbortSignal.any([enough.signal, signal]) });
  await Promise.race([handover.taken, end, wait.catch(() => {})]);
  enough.abort();
}
