/** The live area laid out by Ink: thin components over rows, and the lines that come of them. */

import { Box, renderToString, Text } from "ink";
import { createElement as h } from "react";
import type { Live } from "../app/live.ts";
import { paint, type Row } from "../rows/rows.ts";
import type { Frame } from "./screen.ts";

type Look = { colour: boolean };

/** Rows one below the other; each is one line, whatever it holds. */
function Rows({ rows, colour }: Look & { rows: Row[] }) {
  return h(
    Box,
    { flexDirection: "column", flexShrink: 0 },
    rows.map((row, index) => h(Text, { key: index, wrap: "truncate-end" }, paint(row, colour) || " ")),
  );
}

function LiveArea({ live, colour }: Look & { live: Live }) {
  const { tail, calls, tasks, queue, activity, dialog, editor, completion, status } = live;
  const sections = { tail, calls, tasks, queue, activity, dialog, editor, completion, status };
  return h(
    Box,
    { flexDirection: "column" },
    Object.entries(sections)
      .filter(([, rows]) => rows.length > 0)
      .map(([name, rows]) => h(Rows, { key: name, rows, colour })),
  );
}

/** Painted lines of the live area in a window of `columns`. */
export function frameOf(live: Live, columns: number, colour: boolean): Frame {
  const lines = renderToString(h(LiveArea, { live, colour }), { columns }).split("\n");
  return { lines: lines.map((line) => line.trimEnd()), caret: live.caret };
}
