/**
 * `npm run test:servers [-- <arguments of vitest>]`: sessions with the published servers that people use most, browsers
 * included. Fetches them by version into a cache folder once, and runs test/servers. Exit code 0 with one line where
 * they cannot be had.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cached, cacheFolder, removeUnfinished } from "./lane/cache.ts";
import { MissingError, run, runTests } from "./lane/run.ts";

const root = join(import.meta.dirname, "..");
/** The packages with their versions: those whose tools are recorded. */
const recorded = JSON.parse(readFileSync(join(root, "test/fixtures/mcp-servers.json"), "utf8")) as Record<
  string,
  { package: string; version: string }
>;

const say = (line: string) => process.stderr.write(`servers: ${line}\n`);

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const { message } = error as Error;
  say(error instanceof MissingError ? `skipped: ${message}` : message);
  process.exitCode = error instanceof MissingError ? 0 : 1;
}

/** The exit code of the tests. */
async function main(args: readonly string[]): Promise<number> {
  const cache = cacheFolder(process.env, "servers");
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  removeUnfinished(cache);
  const folder = await installed(cache);
  return runTests("servers", { SAWTOOTH_SERVERS: folder }, args);
}

/** Returns a folder with the packages, which npm fetches where it is missing. No script of theirs runs. */
function installed(cache: string): Promise<string> {
  const packages = Object.values(recorded).map(({ package: name, version }) => `${name}@${version}`);
  const hash = createHash("sha256").update(packages.join(" ")).digest("hex").slice(0, 12);
  return cached(cache, `packages-${hash}`, async (folder) => {
    say(`fetching ${packages.length} packages, 120 MB`);
    const options = ["--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    const { code, stderr } = await run("npm", ["install", ...options, ...packages]);
    const lines = stderr.split("\n").map((line) => line.replace(/^npm error /, ""));
    const why = lines.find((line) => /network|request to/.test(line)) ?? lines[0] ?? "npm failed";
    if (code !== 0) throw new MissingError(`the servers cannot be fetched: ${why}`);
  });
}
