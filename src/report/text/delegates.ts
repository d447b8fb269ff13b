/** The session and its sub-agents as a tree: the sum of its dollars is the bill. Pure. */

import { money, plural } from "../../context/report/amounts.ts";
import type { DelegateRow } from "../../context/report/delegates.ts";
import type { SessionReport } from "../../context/report/report.ts";
import { cleanLine, formatInteger } from "../../core/text/clean-text.ts";
import { cut, filled, wrap } from "./columns.ts";

/** Returns the tree; nothing where nothing was delegated. */
export function delegateLines({ delegates, cost, session, steps, sideCalls }: SessionReport): string[] {
  if (delegates.length === 0) return [];
  const own = cost.total - cost.buckets.delegates;
  const calls = steps.filter(({ usage }) => usage).length + sideCalls.length;
  const row = (name: string, count: number, dollars: number, inPlace: string, end: string) =>
    `  ${filled(cut(name, 34), 34)} ${formatInteger(count).padStart(5)} ${money(dollars).padStart(9)} ${inPlace.padStart(9)}  ${cut(end, 15)}`;
  return [
    `${filled(`${plural(delegates.length, "sub-agent")}, billed here`, 36)} calls      cost  in place  end`,
    row(cleanLine(session.id), calls, own, "", "this session"),
    ...delegates.map((delegate, index) => {
      const mark = index === delegates.length - 1 ? "└ " : "├ ";
      const { inPlaceUsd } = delegate.end?.economics ?? {};
      return row(
        `${mark}${cleanLine(delegate.brief)}`,
        delegate.calls,
        delegate.cost,
        inPlaceUsd === undefined ? "" : money(inPlaceUsd),
        endOf(delegate),
      );
    }),
    ...wrap(`One of them: sawtooth report ${delegates.map(({ id }) => cleanLine(id)).join(" | ")}`, 78).map(
      (line) => `  ${line}`,
    ),
  ];
}

function endOf({ end }: DelegateRow): string {
  if (!end) return "cut off";
  return end.reason === "completed" ? "reported" : end.reason.replaceAll("_", " ");
}
