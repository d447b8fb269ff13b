/** The completions of the word at the cursor. */

import { createElement as h, type ReactNode } from "react";
import { Line, Span } from "./text.ts";

export type Choice = { label: string; note: string; chosen: boolean };
/** Props. `position`: "3 of 40", where some are hidden. */
export type CompletionMenuProps = { choices: readonly Choice[]; position?: string | undefined };

export function CompletionMenu({ choices, position }: CompletionMenuProps): ReactNode {
  return [
    ...choices.map((choice, index) => h(ChoiceLine, { key: index, ...choice })),
    position !== undefined && h(Line, { key: "position" }, h(Span, { tone: "dim" }, `    ${position}`)),
  ];
}

function ChoiceLine({ label, note, chosen }: Choice): ReactNode {
  return h(
    Line,
    null,
    h(Span, { tone: "accent" }, chosen ? "  ❯ " : "    "),
    h(Span, chosen ? { tone: "strong" } : {}, label),
    h(Span, { tone: "dim" }, note),
  );
}
