/** Batches over small repositories, run by the real program. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { ResultLine } from "../../../src/cli/batch/results.ts";
import type { ScriptedReply } from "../../../src/models/playback/script.ts";
import { procTable } from "../../../src/tools/bash/shell/process-table-proc.ts";
import { makePlace, type Place, sawtooth } from "../../support/sawtooth.ts";
import { git } from "../fix/fix-workspace.ts";

/** A place with a committed repository `project`, which is gone after the test. */
export function batchPlace(files: Record<string, string> = { "a.txt": "one\n" }, url?: string): Place {
  const place = makePlace(url);
  onTestFinished(place.remove);
  for (const [path, text] of Object.entries(files)) write(place, `project/${path}`, text);
  const cwd = join(place.cwd, "project");
  git(cwd, "init", "--quiet");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", "start");
  return place;
}

export function write(place: Place, path: string, text: string): void {
  mkdirSync(dirname(join(place.cwd, path)), { recursive: true });
  writeFileSync(join(place.cwd, path), text);
}

/** Writes a script of a model and returns its name as an option. */
export function script(place: Place, name: string, turns: ScriptedReply[]): { model: string } {
  write(place, `${name}.json`, JSON.stringify({ turns }));
  return { model: `scripted/${name}.json` };
}

/** One that runs a command and says what it was told. */
export function shellScript(place: Place, name: string, command: string): { model: string } {
  return script(place, name, [{ text: "I run it.", calls: [{ bash: { command } }] }, { text: "Done." }]);
}

export function writeTasks(place: Place, tasks: object[]): void {
  write(place, "tasks.jsonl", tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
}

export const words = ["batch", "tasks.jsonl", "--out", "out"];

export function run(place: Place, ...more: string[]) {
  return sawtooth(place, [...words, ...more]);
}

/** All whole lines, oldest first. */
export function results(place: Place, out = "out"): ResultLine[] {
  const text = readFileSync(join(place.cwd, out, "results.jsonl"), "utf8");
  return text
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as ResultLine);
}

/** The states of the newest results by id. */
export function states(place: Place): Record<string, string> {
  return Object.fromEntries(results(place).map(({ id, state }) => [id, state]));
}

export function patchOf(place: Place, id: string): string {
  const line = results(place).findLast((one) => one.id === id);
  return line?.patch ? readFileSync(join(place.cwd, "out", line.patch), "utf8") : "";
}

/** A task that may do anything in the project. */
export const auto = { repo: "project", prompt: "Do it.", permission_mode: "auto" };

/** Six tasks, every second of which takes long while `hold` is there. */
export function six(place: Place): void {
  write(place, "hold", "");
  const hold = join(place.cwd, "hold");
  const slow = shellScript(place, "slow", `echo b > b.txt; while [ -e ${hold} ]; do sleep 0.05; done`);
  const quick = shellScript(place, "quick", "echo b > b.txt");
  const tasks = [1, 2, 3, 4, 5, 6].map((n) => ({ id: `t${n}`, ...auto, ...(n % 2 ? slow : quick) }));
  writeTasks(place, tasks);
}

/** What was started by the batch of this place and runs still. */
export function family(place: Place): string[] {
  const out = join(place.cwd, "out");
  const { all, variableOf, commandLine } = procTable();
  return all().flatMap(({ pid }) => (variableOf(pid, "SAWTOOTH_BATCH") === out ? [commandLine(pid)] : []));
}

/** Whether two slow tasks are at work. */
export const waiting = (place: Place) => () =>
  family(place).filter((line) => line.includes("sleep 0.05")).length >= 2;
