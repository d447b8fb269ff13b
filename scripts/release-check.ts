/**
 * `npm run release:check`: packs what a person installs, looks into it, installs it under each supported Node, and runs
 * it there without a network, as root and as nobody. One line for each check; exit code 1 when one fails.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentChecks } from "./release/contents.ts";
import type { Outcome } from "./release/outcome.ts";
import { runChecks } from "./release/runs.ts";

const root = join(import.meta.dirname, "..");
/** The oldest version that package.json permits, and those that are maintained. */
const nodes = ["22.12", "24", "26"];

const work = mkdtempSync(join(tmpdir(), "sawtooth-release-"));
// Others than this user run what is installed there.
chmodSync(work, 0o755);
let failed = 0;
try {
  const tarball = pack();
  for await (const { what, state, says } of checks(tarball)) {
    process.stdout.write(`${state.padEnd(8)} ${what.padEnd(40)} ${says}\n`);
    if (state === "FAILED") failed += 1;
  }
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 3 });
}
process.stdout.write(failed === 0 ? "The package can be published.\n" : `${failed} checks failed.\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function* checks(tarball: string): AsyncGenerator<Outcome> {
  yield* contentChecks({ root, tarball, work });
  for (const version of nodes) yield* runChecks({ version, tarball, work });
}

/** Builds and packs; returns the path of the tarball. */
function pack(): string {
  const to = join(work, "pack");
  mkdirSync(to);
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "inherit" });
  const words = ["pack", "--ignore-scripts", "--json", "--pack-destination", to];
  const told = execFileSync("npm", words, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const packed = Object.values(JSON.parse(told) as Record<string, { filename: string }>)[0];
  if (!packed) throw new Error("npm packed nothing");
  return join(to, packed.filename);
}
