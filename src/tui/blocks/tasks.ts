/** The task list as a panel: what is done is counted, what is open is listed. Pure. */

import { cut, type Row, safe } from "../rows/rows.ts";

type Task = { status: string; text: string };

const shownOpen = 5;

export type Panel = { columns: number; working: boolean; room: number };

/** No rows when everything is done; one when nobody works on it, or where there is no room for more. */
export function taskRows(list: string | undefined, { columns, working, room }: Panel): Row[] {
  const tasks = [...(list ?? "").matchAll(/^\s*[-*] \[([ xX>])\] (.*)$/gm)].map(
    ([, status = "", text = ""]): Task => ({ status: status.toLowerCase(), text }),
  );
  const open = tasks.filter(({ status }) => status !== "x");
  if (open.length === 0) return [];
  const done = tasks.length - open.length;
  const active = open.find(({ status }) => status === ">") ?? open[0];
  if (!working || room < 3)
    return [
      [
        {
          text: cut(`  ☐ ${done} of ${tasks.length} tasks done; next: ${safe(active?.text ?? "")}`, columns),
          tone: "dim",
        },
      ],
    ];
  const most = Math.max(1, Math.min(shownOpen, room - 2));
  const shown = open.slice(0, most).map(({ status, text }): Row => {
    const active = status === ">";
    return [
      { text: active ? "  ▸ " : "  ☐ ", tone: active ? "accent" : "dim" },
      { text: cut(safe(text), columns - 4), tone: active ? "strong" : "dim" },
    ];
  });
  const more = open.length - most;
  return [
    ...(done > 0 ? [[{ text: `  ☑ ${done} done`, tone: "dim" as const }]] : []),
    ...shown,
    ...(more > 0 ? [[{ text: `    … ${more} more`, tone: "dim" as const }]] : []),
  ];
}
