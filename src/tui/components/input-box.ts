/** The input box, and the search through earlier input. */

import { createElement as h, type ReactNode } from "react";
import { Line, Span } from "./text.ts";

/** Rows of the text around the cursor. `first`: they include the first row of the text. */
export type InputBoxProps = {
  lines: readonly string[];
  first: boolean;
  shell: boolean;
  hint?: string | undefined;
};

export function InputBox({ lines, first, shell, hint }: InputBoxProps): ReactNode {
  const shown = lines.length > 0 ? lines : [""];
  return shown.map((text, index) =>
    h(
      Line,
      { key: index },
      first && index === 0 ? h(Span, { tone: "accent" }, shell ? "! " : "› ") : "  ",
      hint === undefined ? text : h(Span, { tone: "dim" }, hint),
    ),
  );
}

export type HistorySearchProps = { label: string; found: string };

export function HistorySearch({ label, found }: HistorySearchProps): ReactNode {
  return h(Line, null, h(Span, { tone: "accent" }, label), `  ${found}`);
}
