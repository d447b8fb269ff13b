/** Tells whether anything runs in a sandbox beside its shell, and whether anything has run since it was asked last. */

import { childrenOf, procText } from "../disk/process-stat.ts";

export type Activity = {
  /** Returns true while there are more processes than the keeper and a shell that runs nothing. */
  hasMore(): boolean;
  /**
   * Returns true where there are, or where one of the two has got time of a processor or a thread since the last call.
   * True as well where the kernel does not tell.
   */
  hasRun(): boolean;
};

/** Looks at a sandbox by the pid of its keeper on the machine. */
export function activityIn(keeper: number): Activity {
  let last: string | undefined;
  return {
    hasMore: () => othersIn(keeper).length > 0,
    hasRun() {
      const [shell] = childrenOf(keeper);
      const times = [keeper, ...(shell === undefined ? [] : [shell])].map(timesOf);
      const now = othersIn(keeper).length > 0 || times.includes(undefined) ? undefined : times.join();
      const isSame = now !== undefined && now === last;
      last = now;
      return !isSame;
    },
  };
}

function othersIn(keeper: number): number[] {
  const [shell, ...others] = childrenOf(keeper);
  return shell === undefined ? others : [...others, ...childrenOf(shell)];
}

/** Returns the pid, the nanoseconds on a processor, and the number of threads. */
function timesOf(pid: number): string | undefined {
  const ran = procText(`${pid}/schedstat`)?.split(" ", 1)[0];
  const threads = /^Threads:\s*(\d+)/m.exec(procText(`${pid}/status`) ?? "")?.[1];
  return ran === undefined || threads === undefined ? undefined : `${pid} ${ran} ${threads}`;
}
