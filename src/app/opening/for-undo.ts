/** Opens a stored session for an undo from outside of it. */

import { openStoredSnapshots } from "../../undo/stored.ts";

/** Opens it to be its only user. Throws `SessionError`. */
export function openForUndo(root: string, id: string | undefined, warn: (text: string) => void) {
  return openStoredSnapshots({ id, root, cwd: process.cwd(), clock: Date.now, warn });
}
