/** Files with secrets: read only when nobody else can read them, replaced whole. */

import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { StartError } from "../core/errors.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { errorCode } from "../disk/real-path.ts";
import { replaceFile } from "../disk/replace-file.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** A stored secret cannot be read or written. The message is one line: the file, the problem, the remedy. Exit code 4. */
export class CredentialsError extends StartError {
  constructor(message: string) {
    super(message, 4);
  }
}

/**
 * Returns the object in a file of secrets; undefined when there is no file. One that others can read gets the mode 0600,
 * and `warn` a line about it. Throws `CredentialsError` for a link, a file of somebody else, and anything but JSON.
 */
export function readOwned(file: string, warn: (text: string) => void): Record<string, unknown> | undefined {
  const content = contentOf(file, warn);
  if (content === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Said below: the parser's message may quote a key.
  }
  throw new CredentialsError(`${file} is not a JSON object: remove it and run sawtooth login again`);
}

function contentOf(file: string, warn: (text: string) => void): string | undefined {
  // Nearly always there is none, and an error that says so costs more than the look.
  if (!existsSync(file)) return undefined;
  let fd: number | undefined;
  try {
    fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { uid, mode } = fstatSync(fd);
    if (!fstatSync(fd).isFile()) throw new CredentialsError(`${file} is not a file: remove it`);
    if (process.getuid && uid !== process.getuid())
      throw new CredentialsError(`${file} belongs to another user, so it is not read: remove it`);
    if ((mode & 0o077) !== 0) {
      fchmodSync(fd, 0o600);
      const was = (mode & 0o777).toString(8).padStart(4, "0");
      warn(
        `${file} could be read by others (mode ${was}); it is 0600 now. Replace what it holds if they may have`,
      );
    }
    return readFileSync(fd, "utf8");
  } catch (error) {
    if (error instanceof CredentialsError) throw error;
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP")
      throw new CredentialsError(`${file} is a link, so it is not read: put the file there`);
    throw new CredentialsError(`${file} cannot be read (${code}): make it readable for you, or remove it`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Writes a file of secrets, 0600, in a folder that only its owner enters. Throws `CredentialsError`. */
export function writeOwned(file: string, value: object): void {
  try {
    makeFolders(dirname(file), 0o700);
    replaceFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
  } catch (error) {
    throw new CredentialsError(`${file} cannot be written (${errorCode(error)}): nothing was stored`);
  }
}

/** Removes a file of secrets. Throws `CredentialsError`. */
export function removeOwned(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    throw new CredentialsError(`${file} cannot be removed (${errorCode(error)}): remove it by hand`);
  }
}
