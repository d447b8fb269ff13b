/**
 * The program as a process that outlives its command lines: loads once, then runs one command line after another, each
 * with the environment and the folder that it is given. What a run leaves behind would reach the next one.
 */

import { run } from "../../src/cli/run.ts";
import { entry } from "./entry.ts";

/** One command line. `end`: what to write to both streams after it. */
export type Order = { words: string[]; cwd: string; env: Record<string, string>; end: string };

const emitters = [process, process.stdout, process.stderr];
const events = ["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "error", "exit"];

process.on("message", async ({ words, cwd, env, end }: Order) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, entry, ...words];
  const code = await run(words);
  tidy(code);
  for (const stream of [process.stdout, process.stderr]) stream.write(`${end}${code}\n`);
});
process.on("disconnect", () => process.exit());

/** Does what the end of the process would have done: those who wait for it are told, and nobody listens any more. */
function tidy(code: number): void {
  for (const listener of process.rawListeners("exit")) listener.call(process, code);
  for (const emitter of emitters) for (const event of events) emitter.removeAllListeners(event);
}
