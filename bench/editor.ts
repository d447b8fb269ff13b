/** An edit of a small file and of one of 12 MB, beside reading, replacing, writing and syncing it in plain Node. */

import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { editorTool } from "../src/tools/editor/tool.ts";
import { memoryLog, started } from "../test/support/logs.ts";
import { figure, type Row } from "./figures.ts";
import { inHome, inTurn } from "./programs.ts";

const sizes = [
  { name: "edit of a 4 KB file", lines: 100, rounds: 60, aimMs: 10 },
  { name: "edit of a 12 MB file", lines: 300_000, rounds: 7, aimMs: 1000 },
];

/** `str_replace` with a unique match in the middle of the file. */
export function edits(): Promise<Row[]> {
  return inHome(async ({ folder }) => {
    const rows: Row[] = [];
    for (const size of sizes) rows.push(await editOf(folder, size));
    return rows;
  });
}

async function editOf(folder: string, { name, lines, rounds, aimMs }: (typeof sizes)[number]): Promise<Row> {
  const content = Array.from({ length: lines }, (_, line) => `line ${line}: some words of a text file`).join(
    "\n",
  );
  const old = `line ${Math.floor(lines / 2)}: some`;
  const tool = editorTool({ description: "", workspace: folder });
  const { ours, bare } = await inTurn(rounds, {
    bare: async () => timed(folder, content, async (path) => plainEdit(path, old)),
    ours: async () =>
      timed(folder, content, async (path) => {
        const input = { command: "str_replace", path, old_str: old, new_str: `${old} new` };
        const output = await tool.run(input, { ...context(folder), access: tool.access(input) });
        if (output.isError) throw new Error(String(output.content));
      }),
  });
  const measured = figure(ours);
  const aim = { text: `≤ ${aimMs} ms`, met: measured.median <= aimMs };
  return { name, unit: "ms", measured, baseline: figure(bare), against: "plain Node", aim };
}

/** Each time a new file: the editor would rightly say that one it knows was changed behind its back. */
async function timed(
  folder: string,
  content: string,
  work: (path: string) => Promise<void>,
): Promise<number> {
  const path = join(folder, `${randomUUID()}.txt`);
  writeFileSync(path, content);
  const began = performance.now();
  await work(path);
  const time = performance.now() - began;
  rmSync(path);
  return time;
}

function plainEdit(path: string, old: string): void {
  const text = readFileSync(path, "utf8").replace(old, `${old} new`);
  const file = openSync(`${path}.new`, "w");
  writeFileSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.new`, path);
}

function context(folder: string) {
  const refuse = (): never => {
    throw new Error("the editor keeps no artifacts");
  };
  return {
    toolUseId: "call",
    signal: new AbortController().signal,
    events: memoryLog([started()]).events(),
    budgetTokens: 8000,
    artifacts: { folder, create: refuse, write: refuse },
    onProgress: () => {},
  };
}
