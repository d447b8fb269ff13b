/** Commands on the context: its content, its cost, and ways to make it smaller. */

import { money } from "../../context/report/amounts.ts";
import { openFocus } from "../../core/questions.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { contextRows, costRows, focusRows, knowledgeRows } from "../blocks/views.ts";
import type { Compacted } from "../ports/session-actions.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";

export const contextCommands: readonly Command[] = [
  {
    name: "context",
    summary: "what fills the context window, and what you can do about it",
    run: (_, { events, columns, print }) => print(contextRows(events, columns)),
  },
  {
    name: "compact",
    summary: "summarize everything but the last step now",
    argument: "what to keep",
    run: makeHandoff,
  },
  {
    name: "cost",
    summary: "where the money went",
    run: (_, { events, columns, print }) => print(costRows(events, columns)),
  },
  {
    name: "focus",
    summary: "the open focus and the folded ones; fold the open one",
    argument: "fold",
    run: lookAtFocus,
  },
  {
    name: "knowledge",
    summary: "what is remembered from folded parts",
    run: (_, { events, columns, print }) => print(knowledgeRows(events, columns)),
  },
];

async function makeHandoff(keep: string, context: CommandContext): Promise<void> {
  const { host, busy, notice, print, columns, work } = context;
  if (busy) return notice(busyNotice);
  await work("Making a summary", async (signal) => {
    print(wrap(outcomeRow(await host.actions.compact(keep, signal)), columns, "  "));
  });
}

function outcomeRow(done: Compacted): Row {
  const cost = done.cost > 0 ? `; the summary cost ${money(done.cost)}` : "";
  if ("why" in done) return [{ text: `  ${safe(done.why)}${cost}`, tone: "warn" }];
  const { before, after } = done;
  const text = `  context: ${formatInteger(before)} → ${formatInteger(after)} tokens${cost}; the next request writes what changed to the cache again`;
  return [{ text, tone: "dim" }];
}

function lookAtFocus(argument: string, context: CommandContext): void {
  const { events, columns, busy, notice, print } = context;
  if (argument === "") print(focusRows(openFocus(events), events, columns));
  else if (argument !== "fold") notice("Usage: /focus [fold]");
  else if (busy) notice(busyNotice);
  else foldFocus(context);
}

function foldFocus({ host, columns, notice, print }: CommandContext): void {
  const why = host.actions.foldFocus();
  const text = "  made from the log alone; /knowledge shows what stands for it";
  if (why === undefined) print(wrap([{ text, tone: "dim" }], columns, "  "));
  else notice(why);
}
