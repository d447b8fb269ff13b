/** The terminal of a command that waits for input: the offer to type there, and its screen during that. */

import { createElement as h, type ReactNode } from "react";
import { Line, Span } from "./text.ts";

/** `lines`: the end of its terminal. */
export type TerminalOfferProps = { command: string; lines: readonly string[] };

export function TerminalOffer({ command, lines }: TerminalOfferProps): ReactNode {
  return [
    h(Line, { key: "head" }, h(Span, { tone: "warn" }, `  ? waits for input on its terminal: ${command}`)),
    ...lines.map((text, index) => h(Line, { key: index }, h(Span, { tone: "dim" }, `    ${text}`))),
    h(
      Line,
      { key: "key" },
      h(Span, { tone: "accent" }, "    Ctrl-] lets you type there; what you type is not kept"),
    ),
  ];
}

/** `head`: true when there is room for the line that explains where keys go. */
export type TakenTerminalProps = { head: boolean; lines: readonly string[] };

export function TakenTerminal({ head, lines }: TakenTerminalProps): ReactNode {
  return [
    head &&
      h(
        Line,
        { key: "head" },
        h(Span, { tone: "warn" }, "  your keys go to the command; Ctrl-] takes them back"),
      ),
    ...lines.map((text, index) => h(Line, { key: index }, `  ${text}`)),
  ];
}
