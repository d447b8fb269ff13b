/** One call, thought or edit of the context in full, scrolled inside the live area. */

import { createElement as h, type ReactNode } from "react";
import type { Row } from "../rows/rows.ts";
import { Line, RowLine, Span } from "./text.ts";

/** Props. `part`: "rows 3–12 of 40", where some are hidden. `hint`: true when there is room for the keys. */
export type CallDetailsProps = {
  title: string;
  rows: readonly Row[];
  part?: string | undefined;
  hint: boolean;
};

export function CallDetails({ title, rows, part, hint }: CallDetailsProps): ReactNode {
  const keys = `  Esc closes · ←→ others · ↑↓ scroll${part === undefined ? "" : ` · ${part}`}`;
  return [
    h(Line, { key: "title" }, h(Span, { tone: "strong" }, `  ${title}`)),
    ...rows.map((row, index) => h(RowLine, { key: index, row: [{ text: "  │ ", tone: "dim" }, ...row] })),
    hint && h(Line, { key: "hint" }, h(Span, { tone: "dim" }, keys)),
  ];
}
