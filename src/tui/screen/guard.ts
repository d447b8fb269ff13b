/**
 * Restores the terminal for a process that died without a chance to: killed by SIGKILL, out of memory, crashed. A small
 * shell waits at the other end of a pipe; when the pipe ends while the terminal was taken, it restores it.
 */

import { spawn, spawnSync } from "node:child_process";
import type { Writable } from "node:stream";

export type Guard = {
  /** Starts watching, where there is a shell for it. Idempotent. */
  start(): void;
  /**
   * Records that the terminal is taken. `modes`: the result of `terminalModes` before that. `alternate`: another
   * program shows its screen.
   */
  taken(modes: string, alternate?: boolean): void;
  /** Records that the terminal was restored. Works while the process ends. */
  released(): void;
};

/**
 * Resets everything that a screen may have switched on, and modes that we never set: a program run in between may have
 * left them.
 */
export const resetModes =
  "\x1b[?2026l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[<u\x1b[?25h\x1b[0m";

/** Sent after all other resets, because some of them belong to the screen being left. */
export const leaveAlternate = "\x1b[?1049l";

/**
 * Restores modes only where they still are as we had set them, and a moment later: a shell that we were a job of has
 * set its own by then. The rest of the live area below the cursor is erased, where a shell may have written its prompt
 * by now. Signals meant for us and our terminal do not end it.
 */
const script = `trap '' INT QUIT HUP TERM TSTP TTIN TTOU
modes= taken= alternate=
while read -r word before shown; do
  modes=$before alternate=$shown taken=
  if [ "$word" = taken ]; then taken=$(stty -g <&3); fi
done
[ -n "$taken" ] || exit 0
printf %s "$1" >&3
[ -z "$alternate" ] || printf %s "$2" >&3
printf '\\033[J' >&3
sleep 0.15
[ "$(stty -g <&3)" != "$taken" ] || stty "$modes" <&3
`;

const env = { PATH: "/usr/bin:/bin" };

/** Modes in which every shell can be used, for a terminal whose own are not known. */
export const usableModes = "sane";

/**
 * Milliseconds for `stty`, which asks the kernel and waits for nothing: what takes longer is no busy machine but, for
 * one, a program on a file system that does not answer, for which we start later.
 */
const modesMs = 5000;

/** Returns the modes of the terminal as `stty` spells them; usable ones where it cannot tell. Takes about 2 ms. */
export function terminalModes(fd: number): string {
  const { stdout, status } = spawnSync("stty", ["-g"], {
    stdio: [fd, "pipe", "ignore"],
    env,
    timeout: modesMs,
    killSignal: "SIGKILL",
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : usableModes;
}

/** Creates a guard of the terminal that `fd` is open on; it ends with this process. */
export function createGuard(fd: number): Guard {
  let pipe: Writable | undefined;
  let word = "released";
  const say = (next: string) => {
    word = next;
    pipe?.write(`${word}\n`);
  };
  return {
    start() {
      if (pipe) return;
      // A kernel session of its own: neither our terminal nor our process group can end it with us.
      const child = spawn("/bin/sh", ["-c", script, "sawtooth-guard", resetModes, leaveAlternate], {
        stdio: ["pipe", "ignore", "ignore", fd],
        detached: true,
        cwd: "/",
        env,
      });
      child.on("error", () => {});
      child.unref();
      // Undefined where no more files can be opened.
      pipe = (child.stdin as Writable | null | undefined) ?? undefined;
      pipe?.on("error", () => {});
      (pipe as { unref?: () => void } | undefined)?.unref?.();
      say(word);
    },
    taken: (modes, alternate = false) => say(`taken ${modes}${alternate ? " alternate" : ""}`),
    released: () => say("released"),
  };
}
