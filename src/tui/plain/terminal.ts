/** A waiting command in the plain screen: a numbered question, and one line typed for it. */

import type { WaitingCommand } from "../../core/waiting-command.ts";
import { safe } from "../rows/rows.ts";

/** Milliseconds that a call of the model waits for an answer. */
const patienceMs = 5000;
const shownRows = 6;
const size = { columns: 120, rows: 40 };

/** Creates the offers. `say` writes lines. `onLine` returns true when the line answered the question. */
export function createOffers(say: (lines: readonly string[]) => void) {
  let open: { port: WaitingCommand; typing: boolean } | undefined;
  const ask = async (port: WaitingCommand): Promise<void> => {
    const { rows } = await port.view();
    if (open?.port !== port) return;
    say([
      `It waits for input on its terminal: ${safe(port.command.trim().replaceAll(/\s*\n\s*/g, " ; "))}`,
      ...rows.slice(-shownRows).map((row) => `    ${safe(row)}`),
      "1 Type a line for it; this terminal shows it while you type",
      "2 Leave it",
      "Answer with a number.",
    ]);
  };
  return {
    offer(port: WaitingCommand): number {
      open = { port, typing: false };
      void port.over.then(() => {
        if (open?.port === port) open = undefined;
      });
      void ask(port);
      return patienceMs;
    },
    onLine(line: string): boolean {
      if (!open) return false;
      const { port, typing } = open;
      if (typing) {
        typeFor(port, line);
        open = undefined;
        return true;
      }
      if (!/^\s*[12]\s*$/.test(line)) return false;
      if (line.trim() === "2") open = undefined;
      else {
        open = { port, typing: true };
        say(["Type the line, then Enter."]);
      }
      return true;
    },
  };
}

function typeFor(port: WaitingCommand, line: string): void {
  const taken = port.take(size, () => {});
  taken?.write(`${line}\n`);
  taken?.giveBack();
}
