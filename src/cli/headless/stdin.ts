/** Reads piped input, without ever waiting for a writer that does not write. */

import { fstatSync } from "node:fs";
import type { ReadStream } from "node:tty";

export type Piped = { text: string; warning?: string };

/**
 * Reads standard input as text. `patient`: waits for its end, because the prompt itself comes from there; otherwise at
 * most `waitMs` for the first byte and as long between two pieces. A terminal, a closed or absent input give "".
 */
export async function readStdin(patient: boolean, waitMs = 1500): Promise<Piped> {
  if (!isPiped()) return { text: "" };
  const stdin = process.stdin as ReadStream;
  const pieces: Buffer[] = [];
  const ended = await new Promise<boolean>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const wait = () => {
      clearTimeout(timer);
      if (!patient) timer = setTimeout(() => resolve(false), waitMs);
    };
    stdin.on("data", (piece: Buffer) => {
      pieces.push(piece);
      wait();
    });
    stdin.on("end", () => resolve(true));
    stdin.on("error", () => resolve(true));
    wait();
  });
  stdin.removeAllListeners("data");
  stdin.destroy();
  const text = Buffer.concat(pieces).toString("utf8");
  if (ended) return { text };
  const seconds = waitMs / 1000;
  const warning = `standard input stayed open and silent for ${seconds} s: going on with the ${text.length} characters that came (use "-" as the prompt to wait for all of it)`;
  return { text, warning };
}

/** Returns true for a pipe, a file or a socket; not for a terminal, /dev/null or a closed descriptor. */
function isPiped(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
}
