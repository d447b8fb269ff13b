/**
 * `npm run lane [-- <arguments of vitest>]`: real sessions against a real model, on this machine. Fetches a small model
 * and the sources of llama.cpp, builds its server once into a cache folder, starts it, and runs test/lane. Exit code 0
 * with one line where something that it needs is missing.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, removeUnfinished } from "./lane/cache.ts";
import { modelFile, serverProgram } from "./lane/model.ts";
import { MissingError, runTests } from "./lane/run.ts";
import { type Llama, startLlama } from "./lane/server.ts";

/** Tokens that the servers hold: one that is too small for our first request, and one that is not. */
const windows = { narrow: 2048, wide: 8192 };

const say = (line: string) => process.stderr.write(`lane: ${line}\n`);

try {
  process.exitCode = await lane(process.argv.slice(2));
} catch (error) {
  const { message } = error as Error;
  say(error instanceof MissingError ? `skipped: ${message}` : message);
  process.exitCode = error instanceof MissingError ? 0 : 1;
}

/** The exit code of the tests. */
async function lane(args: readonly string[]): Promise<number> {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new MissingError(`it needs Linux on x64, this is ${process.platform} on ${process.arch}`);
  const cache = cacheFolder(process.env, "lane");
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  removeUnfinished(cache);
  // What may be missing is found before much is fetched.
  const built = await serverProgram(cache, say);
  const model = await modelFile(cache, say);
  const servers: Record<string, Llama> = {};
  try {
    for (const [name, window] of Object.entries(windows))
      servers[name] = await startLlama(built, { model, window, log: join(cache, `${name}.log`) });
    return await runTests("lane", { SAWTOOTH_LANE_SERVERS: JSON.stringify(servers) }, args);
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
  }
}
