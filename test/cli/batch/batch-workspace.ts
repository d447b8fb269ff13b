/** Batches over small repositories, run by the real program. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { ResultLine } from "../../../src/cli/batch/results.ts";
import type { ScriptedReply } from "../../../src/models/playback/script.ts";
import { procTable } from "../../../src/tools/bash/shell/process-table-proc.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../../support/sawtooth.ts";
import { git } from "../fix/fix-workspace.ts";

/** A workspace with a committed repository `project`, removed after the test. */
export function batchWorkspace(
  files: Record<string, string> = { "a.txt": "one\n" },
  url?: string,
): Workspace {
  const workspace = makeWorkspace(url);
  onTestFinished(workspace.remove);
  for (const [path, text] of Object.entries(files)) write(workspace, `project/${path}`, text);
  const cwd = join(workspace.cwd, "project");
  git(cwd, "init", "--quiet");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", "start");
  return workspace;
}

export function write(workspace: Workspace, path: string, text: string): void {
  mkdirSync(dirname(join(workspace.cwd, path)), { recursive: true });
  writeFileSync(join(workspace.cwd, path), text);
}

/** Writes a script of a model and returns its name as an option. */
export function script(workspace: Workspace, name: string, turns: ScriptedReply[]): { model: string } {
  write(workspace, `${name}.json`, JSON.stringify({ turns }));
  return { model: `scripted/${name}.json` };
}

/** One that runs a command and says what it was told. */
export function shellScript(workspace: Workspace, name: string, command: string): { model: string } {
  return script(workspace, name, [{ text: "I run it.", calls: [{ bash: { command } }] }, { text: "Done." }]);
}

export function writeTasks(workspace: Workspace, tasks: object[]): void {
  write(workspace, "tasks.jsonl", tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
}

export const words = ["batch", "tasks.jsonl", "--out", "out"];

export function run(workspace: Workspace, ...more: string[]) {
  return sawtooth(workspace, [...words, ...more]);
}

/** All whole lines, oldest first. */
export function results(workspace: Workspace, out = "out"): ResultLine[] {
  const text = readFileSync(join(workspace.cwd, out, "results.jsonl"), "utf8");
  return text
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as ResultLine);
}

/** The states of the newest results by id. */
export function states(workspace: Workspace): Record<string, string> {
  return Object.fromEntries(results(workspace).map(({ id, state }) => [id, state]));
}

export function patchOf(workspace: Workspace, id: string): string {
  const line = results(workspace).findLast((one) => one.id === id);
  return line?.patch ? readFileSync(join(workspace.cwd, "out", line.patch), "utf8") : "";
}

/** A task that may do anything in the project. */
export const auto = { repo: "project", prompt: "Do it.", permission_mode: "auto" };

/** Six tasks, every second of which takes long while `hold` is there; each of these leaves a file in `holding`. */
export function six(workspace: Workspace): void {
  write(workspace, "hold", "");
  const hold = join(workspace.cwd, "hold");
  const holding = join(workspace.cwd, "holding");
  mkdirSync(holding);
  const command = `echo b > b.txt; echo > ${holding}/$$; while [ -e ${hold} ]; do sleep 1; done`;
  const slow = shellScript(workspace, "slow", command);
  const quick = shellScript(workspace, "quick", "echo b > b.txt");
  const tasks = [1, 2, 3, 4, 5, 6].map((n) => ({ id: `t${n}`, ...auto, ...(n % 2 ? slow : quick) }));
  writeTasks(workspace, tasks);
}

/** The processes that the batch of this workspace started and that still run. */
export function family(workspace: Workspace): string[] {
  const out = join(workspace.cwd, "out");
  const { all, variableOf, commandLine } = procTable();
  return all().flatMap(({ pid }) => (variableOf(pid, "SAWTOOTH_BATCH") === out ? [commandLine(pid)] : []));
}

/** Returns true once two slow tasks are at work. */
export const waiting = (workspace: Workspace) => () =>
  readdirSync(join(workspace.cwd, "holding")).length >= 2;
