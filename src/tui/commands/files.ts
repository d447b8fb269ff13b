/** Commands that write a file for the user, or examine the machine. */

import { type ExportFormat, exportFormats } from "../../core/formats.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import type { Command, CommandContext } from "./command.ts";

export const fileCommands: readonly Command[] = [
  {
    name: "report",
    summary: "open a page with the session's context and cost",
    run: writeReport,
  },
  {
    name: "export",
    summary: "save the session to a file",
    argument: `${exportFormats.join("|")} file`,
    run: writeExport,
  },
  {
    name: "doctor",
    summary: "check this machine, and how to fix what is missing",
    run: examine,
  },
];

async function writeReport(_: string, { host, print, columns }: CommandContext): Promise<void> {
  const { file, opened } = await host.actions.report();
  print(fileRows(opened ? "opened in the browser: " : "open it in a browser: ", file, columns));
}

async function writeExport(
  argument: string,
  { host, notice, print, columns }: CommandContext,
): Promise<void> {
  const [, word = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
  const named = formatOf(word);
  const file = named ? rest : argument;
  const format = named ?? formatOf(/\.(\w+)$/.exec(file)?.[1] ?? (file === "" ? "md" : ""));
  if (!format) return notice("Usage: /export [md|html|json] [file]");
  print(fileRows("written to ", await host.actions.exportTo(format, file), columns));
}

function formatOf(word: string): ExportFormat | undefined {
  return exportFormats.find((format) => format === word);
}

async function examine(_: string, { host, print, columns }: CommandContext): Promise<void> {
  const lines = (await host.actions.doctor()).trimEnd().split("\n");
  const indent = " ".repeat(columns < 60 ? 4 : 20);
  print(
    lines.flatMap((line) =>
      wrap([{ text: columns < 60 ? line.replace(/^ {20}/, indent) : line }], columns, indent),
    ),
  );
}

/** Returns rows that keep the path whole, so that it can be copied: on a row of its own where it does not fit. */
function fileRows(words: string, file: string, columns: number): Row[] {
  const short = words.length + file.length + 2 <= columns;
  const path: Row = [{ text: short ? safe(file) : `  ${safe(file)}`, tone: "link" }];
  const head: Row = [{ text: `  ${words}`, tone: "dim" }];
  return short ? [[...head, ...path]] : [head, ...wrap(path, columns)];
}
