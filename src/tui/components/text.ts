/** The text of the live area: one-row lines, and spans in a tone. */

import { Box, Text, Transform } from "ink";
import { createContext, createElement as h, type ReactNode, use } from "react";
import { paint, type Row, type Tone } from "../rows/rows.ts";

/** `false` keeps only weight and slant, as NO_COLOR requires. */
export const Colour = createContext(true);

/** Text in a tone, for use inside a `Line`. Not Ink's own colours: scrollback and live area share one palette. */
export function Span({ tone, children }: { tone?: Tone | undefined; children?: ReactNode }): ReactNode {
  const colour = use(Colour);
  if (tone === undefined) return children;
  return h(Transform, { transform: (text: string) => paint([{ text, tone }], colour), children });
}

/** One row, cut at the edge of the window; an empty one keeps its place. */
export function Line({ children }: { children?: ReactNode }): ReactNode {
  return h(Text, { wrap: "truncate-end" }, children ?? " ");
}

/** A row of spans as a line. */
export function RowLine({ row }: { row: Row }): ReactNode {
  if (row.every(({ text }) => text === "")) return h(Line);
  return h(
    Line,
    null,
    row.map(({ text, tone }, index) => h(Span, { key: index, tone }, text)),
  );
}

/** Rows one below the other. */
export function Lines({ rows }: { rows: readonly Row[] }): ReactNode {
  return rows.map((row, index) => h(RowLine, { key: index, row }));
}

/** A part of the live area. `gap`: blank rows below it. */
export function Section({ gap = 0, children }: { gap?: number; children?: ReactNode }): ReactNode {
  return h(Box, { flexDirection: "column", flexShrink: 0, marginBottom: gap }, children);
}
