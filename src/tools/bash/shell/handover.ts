/** A waiting command offered to a person, who may take its terminal over: the clock stands until it is given back. */

import { setTimeout as sleep } from "node:timers/promises";
import type { TakenTerminal, TerminalSize, WaitingCommand } from "../../../core/waiting-command.ts";
import { type RunningCommand, type Verdict, type WatchOptions, watch } from "./running-command.ts";
import { createScreen, type Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";

export type Handover = {
  port: WaitingCommand;
  isTaken(): boolean;
  taken: Promise<void>;
  /** As `port.over`. */
  over: Promise<void>;
  /** Nobody can take it any more. */
  withdraw(): void;
};

export type OnWaiting = (command: WaitingCommand) => number;

/** An offer of the command as it waits now; it is over with the command, or when it was given back. */
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
      // What is typed is no silence, although a password is not echoed.
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

/** What a person would see; of a command that does not run on the terminal itself, what it printed there. */
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
  /** A command that waits can still be taken over. */
  offer?: Handover;
  /** Whether a person had its terminal. */
  answered: boolean;
};

/**
 * Watches as `watch` does; a command that waits is offered to the person, who may be there, and goes on being watched
 * when it was given back. The time limit counts only while nobody is waited for and nobody types.
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
    const offer = createHandover(running, terminal);
    await takenOrNot(offer, running, { patienceMs: onWaiting(offer.port), signal });
    if (!offer.isTaken() && !running.ended && !signal.aborted) return { verdict, offer, answered };
    if (!offer.isTaken()) continue;
    answered = true;
    const held = await watch(running, { ...options, timeoutMs: undefined, givenBack: offer.over });
    offer.withdraw();
    // The end of the command is the end of the offer too: what comes next tells them apart.
    if (held !== "waiting" && held !== "ended") return { verdict: held, answered };
  }
}

async function takenOrNot(
  offer: Handover,
  { end }: RunningCommand,
  { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
): Promise<void> {
  const enough = new AbortController();
  const wait = sleep(patienceMs, undefined, { signal: AbortSignal.any([enough.signal, signal]) });
  await Promise.race([offer.taken, end, wait.catch(() => {})]);
  enough.abort();
}
