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
  /** False once the sandbox has ended, and with it the watch. */
  isAlive(): boolean;
  /** Called when it has ended. */
  onEnd(): void;
};

/** Milliseconds between two looks by itself, while a command runs and else. */
const [busyMs, calmMs] = [25, 250];
/** The least of the time that is left for other work, for each part that looking takes. */
const rest = 100;

/** Watches from now on. */
export function watchBox({ look, isAlive, onEnd }: WatchOptions): Watch {
  let isBusy = false;
  let timer: NodeJS.Timeout | undefined;
  const again = (cost: number): void => {
    clearTimeout(timer);
    timer = setTimeout(turn, isBusy ? Math.max(busyMs, cost * rest) : calmMs).unref();
  };
  const turn = (): void => {
    if (!isAlive()) return void onEnd();
    const began = performance.now();
    void look(isBusy);
    again(performance.now() - began);
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
