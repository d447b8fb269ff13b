/** Reads the beginning of a file, however large the file is. */

import { closeSync, constants, openSync, readSync } from "node:fs";

/** Returns up to `most` bytes. A pipe is not waited for. Throws the system's error. */
export function beginningOf(path: string, most: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(most);
    let length = 0;
    for (let read = -1; read !== 0 && length < most; length += read)
      read = readSync(file, bytes, length, most - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
