/** Rows that are painted before Ink sees them. */

import { Text } from "ink";
import { createElement as h, type ReactNode, use } from "react";
import { paint, type Row } from "../rows/rows.ts";
import { Colour } from "./text.ts";

/**
 * The end of a streaming answer. It stays with the row painter: these rows go into the scrollback as they are, byte for
 * byte, and a third of a window in Markdown has up to 100 spans, each four nodes of React and one of Ink.
 */
export function PaintedRows({ rows }: { rows: readonly Row[] }): ReactNode {
  const colour = use(Colour);
  return rows.map((row, index) => h(Text, { key: index, wrap: "truncate-end" }, paint(row, colour) || " "));
}
