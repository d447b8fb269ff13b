/** The task list as a panel: what is done is counted, what is open is listed. Pure. */

import { cut, type Row, safe } from "./rows.ts";

type Task = { status: string; text: string };

const shownOpen = 5;

/** No rows when everything is done; one when nobody works on it. */
export function taskRows(
  list: string | undefined,
  { columns, working }: { columns: number; working: boolean },
): Row[] {
  const tasks = [...(list ?? "").matchAll(/^\s*[-*] \[([ xX>])\] (.*)$/gm)].map(
    ([, status = "", text = ""]): Task => ({ status: status.toLowerCase(), text }),
  );
  const open = tasks.filter(({ status }) => status !== "x");
  if (open.length === 0) return [];
  const done = tasks.length - open.length;
  if (!working)
    return [
      [
        {
          text: cut(`  ☐ ${done} of ${tasks.length} tasks done; next: ${safe(open[0]?.text ?? "")}`, columns),
          tone: "dim",
        },
      ],
    ];
  const shown = open.slice(0, shownOpen).map(({ status, text }): Row => {
    const active = status === ">";
    return [
      { text: active ? "  ▸ " : "  ☐ ", tone: active ? "accent" : "dim" },
      { text: cut(safe(text), columns - 4), tone: active ? "strong" : "dim" },
    ];
  });
  const more = open.length - shownOpen;
  return [
    ...(done > 0 ? [[{ text: `  ☑ ${done} done`, tone: "dim" as const }]] : []),
    ...shown,
    ...(more > 0 ? [[{ text: `    … ${more} more`, tone: "dim" as const }]] : []),
  ];
}
