/** Plain words for the codes of failed system calls. */

import { errorCode } from "./real-path.ts";

const words: Record<string, string> = {
  EACCES: "permission denied",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
  EISDIR: "it is a folder",
  ELOOP: "its symbolic links run in a circle",
  ENAMETOOLONG: "the path is too long",
  ENOENT: "there is no such file or folder",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "a part of the path is not a folder",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
};

/** Says why a system call failed; undefined for any other error, which is a bug. */
export function errorWords(error: unknown): string | undefined {
  const code = errorCode(error);
  return code && (words[code] ?? code);
}

/** Says why a file that the user named could not be written, and what to do. Rethrows what is no system error. */
export function whyUnwritable(file: string, error: unknown): string {
  const why = errorWords(error);
  if (why === undefined) throw error;
  const missing = errorCode(error) === "ENOENT";
  return `cannot write ${file}: ${missing ? "its folder does not exist: create it, or name another file" : why}`;
}
