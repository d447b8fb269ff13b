/** Runs single commands outside of the sandbox: each in a fresh shell that knows nothing of the one inside. */

import { statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { makeFolders } from "../../disk/make-folders.ts";
import { realTarget } from "../../disk/real-path.ts";
import { createShell, type Shell, type ShellOptions } from "./shell/shell.ts";

export type OutsideShell = {
  /** Returns the real folder on the machine in which a command runs when the shell inside is in `cwd`. */
  folder(cwd: string): string;
  /** Creates a shell in a real folder. The one before ends with its processes. */
  open(cwd: string): Shell;
  /** Returns the shell whose command waits for input. */
  waiting(): Shell | undefined;
  close(): Promise<void>;
  /** Ends its processes at once, for the exit of our process. */
  killAll(): void;
};

type Options = Omit<ShellOptions, "cwd" | "sandbox"> & {
  /** Real folders that commands inside can write: no program is taken from there. */
  writable(): readonly string[];
  /** The folder that is used where that of the shell inside is none of the machine. */
  workspace: string;
  /** Returns the path on the machine of a path inside. */
  hostPath(path: string): string;
};

/**
 * Creates the way out. The environment is the person's own: what the shell inside exported, defined or put into its
 * `PATH` does not cross.
 */
export function outsideShell(options: Options): OutsideShell {
  let current: Shell | undefined;
  let number = 0;
  return {
    folder: (cwd) => realFolder(options.hostPath(cwd)) ?? options.workspace,
    open(cwd) {
      void current?.close();
      number += 1;
      const stateFolder = join(options.stateFolder, "outside", String(number));
      makeFolders(stateFolder, 0o700);
      const sessionId = `${options.sessionId}-outside-${number}`;
      current = createShell({ ...options, cwd, stateFolder, sessionId, env: ownEnvironment(options) });
      return current;
    },
    waiting: () => (current?.waiting() ? current : undefined),
    close: async () => current?.close(),
    killAll: () => current?.killAll(),
  };
}

function realFolder(path: string): string | undefined {
  try {
    const real = realTarget(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** Leaves entries out of `PATH` that are relative, or lie where commands inside may have put programs. */
function ownEnvironment({ env, writable }: Options): Options["env"] {
  const roots = writable();
  const isOwn = (entry: string): boolean =>
    isAbsolute(entry) && !roots.some((root) => [entry, realFolder(entry)].some((one) => isIn(one, root)));
  const path = (env.PATH ?? "").split(delimiter).filter(isOwn).join(delimiter);
  return { ...env, PATH: path };
}

function isIn(path: string | undefined, root: string): boolean {
  return path === root || path?.startsWith(`${root}/`) === true;
}
