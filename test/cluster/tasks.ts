/** 24 tasks with known patches, half of which wait at a gate of their part until the test opens it. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ResultLine } from "../../src/cli/batch/results.ts";

export const parts = 6;
const tasksOfPart = 4;

export type Work = ReturnType<typeof makeWork>;

/** Makes a repository in `folder`, and models and tasks in `shared` and, without gates, in `alone`. */
export function makeWork(folder: string, env: Record<string, string>) {
  const [origin, shared, alone] = ["origin", "shared", "alone"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const [gates, ledger] = [join(shared, "gates"), join(shared, "ledger")];
  for (const path of [origin, gates, alone]) mkdirSync(path, { recursive: true });
  const repository = { repo: `file://${origin}`, ref: makeOrigin(origin, env) };
  const ids = Array.from(
    { length: parts * tasksOfPart },
    (_, index) => `t${String(index + 1).padStart(2, "0")}`,
  );
  for (let part = 1; part <= parts; part++) writeFileSync(join(gates, `${part}`), "");
  writeTasks(shared, ids, repository, (index) => {
    const [part, turn] = [(index % parts) + 1, Math.floor(index / parts)];
    return { gate: turn === 1 || turn === 2 ? join(gates, `${part}`) : undefined, ledger };
  });
  writeTasks(alone, ids, repository, () => ({ gate: undefined, ledger: join(alone, "ledger") }));
  return {
    ...{ ids, shared, alone },
    openGates: () => rmSync(gates, { recursive: true }),
    /** The ids of the tasks whose work was done on the cluster, once for each time. */
    done: (): string[] => (existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : []),
  };
}

type Places = { gate: string | undefined; ledger: string };

function writeTasks(
  folder: string,
  ids: string[],
  repository: object,
  placesOf: (index: number) => Places,
): void {
  const lines = ids.map((id, index) => {
    const model = `${id}.json`;
    writeFileSync(join(folder, model), JSON.stringify({ turns: script(id, index, placesOf(index)) }));
    const task = { id, prompt: `Do ${id}.`, permission_mode: "auto", model: `scripted/${model}` };
    return `${JSON.stringify({ ...task, ...repository })}\n`;
  });
  writeFileSync(join(folder, "tasks.jsonl"), lines.join(""));
}

function makeOrigin(folder: string, env: Record<string, string>): string {
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: folder, env, encoding: "utf8" }).trim();
  for (let index = 0; index < 40; index++)
    writeFileSync(join(folder, `file-${index}.txt`), `${`line of file ${index}\n`.repeat(20)}`);
  git("init", "--quiet");
  git("add", "--all");
  git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--message", "start");
  return git("rev-parse", "HEAD");
}

/** Changes a text, adds a file of all bytes, removes one and changes a mode; notes it last, and only if all went well. */
function script(id: string, index: number, { gate, ledger }: Places): object[] {
  const bytes = `awk 'BEGIN { for (i = 0; i < 256; i++) printf "%c", (i * ${index + 3}) % 256 }' > ${id}.bin`;
  const change = `sed -i '7s/.*/changed by ${id}/' file-${index}.txt && LC_ALL=C ${bytes} && rm file-${39 - (index % 10)}.txt && chmod +x file-30.txt && head -c 300000 /dev/zero | tr '\\0' '${id[1]}' > big.txt`;
  return [
    { text: "I begin.", calls: [{ bash: { command: `echo ${id} > begun.txt` } }] },
    ...(gate
      ? [{ text: "I wait.", calls: [{ bash: { command: `while [ -e ${gate} ]; do sleep 0.1; done` } }] }]
      : []),
    { text: "I change files.", calls: [{ bash: { command: `${change} && echo ${id} >> ${ledger}` } }] },
    { text: "Done." },
  ];
}

/** All whole lines of the results in a folder, oldest first. */
export function linesOf(out: string): ResultLine[] {
  const file = join(out, "results.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line) as ResultLine);
}

/** The patches of done tasks by id. */
export function patchesIn(outs: readonly string[]): Map<string, Buffer> {
  const done = outs.flatMap((out) =>
    linesOf(out).flatMap((line) => (line.state === "done" ? [{ out, line }] : [])),
  );
  return new Map(done.map(({ out, line }) => [line.id, readFileSync(join(out, line.patch ?? ""))]));
}

/** Folders of the parts that have begun. */
export function partsIn(results: string): string[] {
  const names = existsSync(results) ? readdirSync(results).filter((name) => name.startsWith("part-")) : [];
  return names.map((name) => join(results, name));
}
