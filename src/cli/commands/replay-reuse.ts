/** `sawtooth replay --reuse`: how long observations of recordings stay in use; and the page of a replay, which draws it. */

import { UsageError } from "../../core/errors.ts";
import { whyUnwritable } from "../../disk/error-words.ts";
import { saveFile } from "../../disk/replace-file.ts";
import { replayHtml } from "../../lab/replay/html.ts";
import type { ReplayRow } from "../../lab/replay/run.ts";
import { nameOf } from "../../lab/replay/table.ts";
import { type Reuse, reuseOf } from "../../lab/reuse/measure.ts";
import { samplesOf } from "../../lab/reuse/samples.ts";
import { reuseCsv, reuseJson, reuseText } from "../../lab/reuse/table.ts";
import type { Command } from "../arguments/arguments.ts";
import { writeError, writeOut } from "../terminal-output.ts";

type Flags = Pick<Extract<Command, { name: "replay" }>["flags"], "tableFormat" | "html">;

/** Measures the files. Exit code 0; 1 when one of them could not be read. */
export async function replayReuse(files: readonly string[], flags: Flags): Promise<number> {
  const { samples, problems, warnings } = samplesOf(files);
  for (const line of [...problems, ...warnings]) complain(line);
  if (samples.length === 0) throw new UsageError("none of the files could be read");
  const rows = reuseOf(samples, nameOf);
  if (rows.length === 0)
    throw new UsageError("no call of a tool ran in these recordings: there is nothing to use again");
  writeOut(`${shown(rows, flags.tableFormat)}\n`);
  if (flags.html !== undefined) writePage(flags.html, replayHtml([], rows));
  return problems.length > 0 ? 1 : 0;
}

function shown(rows: readonly Reuse[], format: Flags["tableFormat"]): string {
  switch (format) {
    case "table":
      return reuseText(rows);
    case "json":
      return reuseJson(rows);
    case "csv":
      return reuseCsv(rows);
  }
}

/** Writes the page of a replay, with the reuse in the recordings above it. Files that cannot be read were told already. */
export async function writeReplayPage(
  file: string,
  rows: readonly ReplayRow[],
  recordings: readonly string[],
): Promise<void> {
  writePage(file, replayHtml(rows, reuseOf(samplesOf(recordings).samples, nameOf)));
}

function writePage(file: string, page: string): void {
  try {
    saveFile(file, page, { mode: 0o600, make: false });
  } catch (error) {
    throw new UsageError(whyUnwritable(file, error));
  }
  complain(`${file} written: opens in any browser`);
}

function complain(line: string): void {
  writeError(`sawtooth: ${line}\n`);
}
