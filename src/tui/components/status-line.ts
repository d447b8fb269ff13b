/** The status below everything: mode, model, folder, cost, and the context as a bar and a curve. */

import { createElement as h, memo, type ReactNode } from "react";
import type { PermissionMode } from "../../permissions/decide.ts";
import { type Facts, statusRows } from "../blocks/status.ts";
import { Line, RowLine, Span } from "./text.ts";

/** Props. `notice`: replaces the first row. `rows`: number of rows available; the last ones are kept. */
export type StatusLineProps = {
  facts: Facts;
  mode: PermissionMode;
  location: { shortCwd: string; branch?: string | undefined };
  columns: number;
  rows: number;
  notice?: string | undefined;
};

/** Redrawn only when one of its facts changes, not at each key. */
export const StatusLine = memo(function StatusLine(props: StatusLineProps): ReactNode {
  const { facts, mode, location, columns, rows, notice } = props;
  const all = statusRows(facts, mode, { cwd: location.shortCwd, branch: location.branch }, columns - 2).map(
    (row) => [{ text: "  " }, ...row],
  );
  const shown = all.slice(Math.max(0, all.length - rows));
  return shown.map((row, index) =>
    notice !== undefined && index === 0
      ? h(Line, { key: index }, h(Span, { tone: "strong" }, `  ${notice}`))
      : h(RowLine, { key: index, row }),
  );
});
