/** The folders of a session: its own, its workspace, and the person's home. */

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { UsageError } from "../../core/errors.ts";
import { started } from "../../core/questions.ts";
import { ancestorFolders } from "../../session/listing.ts";
import type { OpenSession } from "../../session/store.ts";
import type { OpenOptions } from "../session.ts";

/** Returns the folder that holds all sessions. */
export function sessionRoot({ flags, env, cwd }: Pick<OpenOptions, "flags" | "env" | "cwd">): string {
  return flags.sessionDir ? resolve(cwd, flags.sessionDir) : join(folders(env).state, "sessions");
}

/** Returns the folder of a session: for a stored one the original, for a new one the current folder. */
export function folderOf(session: OpenSession, options: OpenOptions): string {
  const first = session.log.events()[0];
  const cwd = first?.type === "session_started" ? first.cwd : realpathSync(options.cwd);
  if (!existsSync(cwd)) throw new UsageError(`the session's folder no longer exists: ${cwd}`);
  return cwd;
}

/**
 * Returns the session's own folder, and those of the sessions it was branched from, whose artifacts its history names.
 */
export function readableFolders({ folder, log }: OpenSession): string[] {
  const { parent, delegate } = started(log.events());
  // That of a sub-agent lies in the folder of the session that delegated: <session>/delegates/<slug>/<id>.
  return delegate ? [folder, resolve(folder, "../../..")] : [folder, ...ancestorFolders(folder, parent)];
}

/** Returns the folder of the pictures that were pasted into a session, given the session's own. */
export function picturesFolder(sessionFolder: string): string {
  return join(sessionFolder, "pictures");
}

export function realHome(env: OpenOptions["env"]): string {
  const home = env.HOME ?? homedir();
  return existsSync(home) ? realpathSync(home) : home;
}

/** Returns the folder that the agent works in, with links resolved. */
export function workspaceOf(cwd: string, { flags, cwd: here }: Pick<OpenOptions, "flags" | "cwd">): string[] {
  return [workspaceRoot(cwd), ...flags.addDirs.map((folder) => existing(folder, here))];
}

function existing(folder: string, cwd: string): string {
  try {
    return realpathSync(resolve(cwd, folder));
  } catch {
    throw new UsageError(`--add-dir ${folder}: no such folder`);
  }
}
