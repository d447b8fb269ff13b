/** Keeps the walls of a sandbox that runs closed against what appears or changes on the machine. */

export type Watch = {
  /** Closes what appeared since the last look, and looks often from now on. Never rejects. */
  look(): Promise<void>;
  /** Looks seldom from now on. */
  calm(): void;
};

export type WatchOptions = {
  /** Closes what appeared since it was called last; never rejects. `during`: a command has been running since. */
  look(during: boolean): Promise<unknown>;
  /** Called before each look by itself, for what need not be known before a command. `during`: one runs. */
  onTurn(during: boolean): void;
  /** False once the sandbox has ended, and with it the watch. */
  isAlive(): boolean;
  /** Called when it has ended. */
  onEnd(): void;
};

/** Milliseconds between two looks by itself, while a command runs and else. */
const [busyMs, calmMs] = [25, 250];
/** The least of the time that is left for other work, for each part that looking takes of a processor. */
const rest = 100;

/**
 * Returns the milliseconds that this process has had of a processor. How long something took would count others too: on a
 * busy machine the next look would come late.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Watches from now on. */
export function watchBox({ look, onTurn, isAlive, onEnd }: WatchOptions): Watch {
  let isBusy = false;
  let timer: NodeJS.Timeout | undefined;
  const again = (cost: number): void => {
    clearTimeout(timer);
    timer = setTimeout(turn, isBusy ? Math.max(busyMs, cost * rest) : calmMs).unref();
  };
  const turn = (): void => {
    if (!isAlive()) return void onEnd();
    const before = processorMs();
    onTurn(isBusy);
    void look(isBusy);
    again(processorMs() - before);
  };
  again(0);
  return {
    async look() {
      if (!isAlive()) return;
      const closed = look(isBusy);
      if (!isBusy) {
        isBusy = true;
        again(0);
      }
      await closed;
    },
    calm() {
      isBusy = false;
    },
  };
}
