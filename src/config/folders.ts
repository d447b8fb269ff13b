/** The folders that Sawtooth uses on this machine. */

import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** `worktrees` lies apart from what the sandbox hides, as commands work there. */
export type Folders = { config: string; state: string; worktrees: string };

/** Returns absolute folders: under `$SAWTOOTH_HOME` when it is set, else the XDG base folders. */
export function folders(env: NodeJS.ProcessEnv): Folders {
  const own = env.SAWTOOTH_HOME;
  if (own)
    return {
      config: resolve(own, "config"),
      state: resolve(own, "state"),
      worktrees: resolve(own, "worktrees"),
    };
  const home = resolve(env.HOME || homedir());
  // The XDG specification says to ignore relative paths.
  const base = (value: string | undefined, ...usual: string[]): string =>
    join(value && isAbsolute(value) ? value : join(home, ...usual), "sawtooth");
  return {
    config: base(env.XDG_CONFIG_HOME, ".config"),
    state: base(env.XDG_STATE_HOME, ".local", "state"),
    worktrees: join(base(env.XDG_DATA_HOME, ".local", "share"), "worktrees"),
  };
}
