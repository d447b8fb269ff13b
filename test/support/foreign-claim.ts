/** A claim of another machine in a folder, as its file tells. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The part of another machine in the names of its processes. */
export const farMachine = "0".repeat(12);

/** Claims `folder` from "far", as its process 7; each `write` is a sign of life. `held`: it has the folder. */
export function foreignClaim(folder: string, held = true) {
  const name = `claim.${farMachine}.7.1`;
  let beat = 0;
  const write = () =>
    writeFileSync(join(folder, name), JSON.stringify({ host: "far", pid: 7, held, beat: ++beat }));
  write();
  return { name, write };
}
