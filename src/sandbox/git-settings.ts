/**
 * The git settings of the commands of a session: what `git config --global` writes goes to a file of their own, beside
 * those of the person, which are read as before and can name programs.
 */

import { closeSync, futimesSync, lstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Modification time, in seconds, of the file before a command has written it. */
const untouched = 946_684_800;
const fileName = "gitconfig";

/** `home`: that of the person. `isHidden`: true for a file that commands must not read. */
type Person = { env: Environment; home: string; isHidden(path: string): boolean };

/** Makes the file in `folder`, which commands can write, unless there is one; returns its path. */
export function sessionGitSettings(folder: string, { env, home, isHidden }: Person): string {
  const path = join(folder, fileName);
  const { GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME } = env;
  const config = XDG_CONFIG_HOME || join(home, ".config");
  const files = GIT_CONFIG_GLOBAL
    ? [GIT_CONFIG_GLOBAL]
    : [join(config, "git/config"), join(home, ".gitconfig")];
  // Included for paths in them that are relative; as text too, since git --global does not look into what is included.
  const parts = files
    .filter((file) => !isHidden(file))
    .map((file) => `[include]\n\tpath = ${JSON.stringify(file)}\n${textOf(file)}\n`);
  try {
    // Never through a link: commands write here.
    const file = openSync(path, "wx", 0o600);
    writeSync(file, parts.join(""));
    futimesSync(file, untouched, untouched);
    closeSync(file);
  } catch {
    // It is there already.
  }
  return path;
}

/** Returns a function that is true when a command has written the settings since its last call. `folder`: as above. */
export function gitSettingsLook(folder: string): () => boolean {
  let before = `${untouched * 1000}`;
  return () => {
    const now = stampOf(join(folder, fileName));
    const isNew = now !== undefined && now !== before;
    before = now ?? before;
    return isNew;
  };
}

function stampOf(path: string): string | undefined {
  try {
    return String(lstatSync(path).mtimeMs);
  } catch {
    return undefined;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
