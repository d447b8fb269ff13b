/** The model of the lane, and the server that runs it: fetched and built once, then taken from the cache. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { cached } from "./cache.ts";
import { hashOf, libraries, sources, unpack, weights, weightsHash } from "./packages.ts";
import { MissingError, must, run } from "./run.ts";

export type Say = (line: string) => void;

const recipe = join(import.meta.dirname, "CMakeLists.txt");
/** Compilers at once; each takes up to 500 MB. */
const jobs = "2";

/**
 * Path of the model's file, checked against its hash each time. Throws `MissingError`, or an Error when what npm gives
 * is not what was pinned.
 */
export async function modelFile(cache: string, say: Say): Promise<string> {
  const fetched = () =>
    cached(cache, `weights-${weightsHash.slice(0, 8)}`, (folder) => joinWeights(folder, say));
  const folder = await fetched();
  if (await isGood(folder)) return fileIn(folder);
  say("the model in the cache is damaged, it is fetched anew");
  rmSync(folder, { recursive: true });
  return fileIn(await fetched());
}

const fileIn = (folder: string): string => join(folder, "tinyllama.gguf");

async function isGood(folder: string): Promise<boolean> {
  return (await hashOf(fileIn(folder), "sha256", "hex").catch(() => "")) === weightsHash;
}

async function joinWeights(folder: string, say: Say): Promise<void> {
  for (const [index, half] of weights.entries()) {
    say(`fetching ${half.name}, about 160 MB`);
    const unpacked = join(folder, half.name);
    await unpack(half, unpacked);
    const joined = createWriteStream(fileIn(folder), { flags: index === 0 ? "w" : "a" });
    await pipeline(createReadStream(join(unpacked, "model.part")), joined);
    rmSync(unpacked, { recursive: true });
  }
  const found = await hashOf(fileIn(folder), "sha256", "hex");
  if (found !== weightsHash)
    throw new Error(
      `the joined model is not what was pinned: its SHA-256 is ${found}, expected ${weightsHash}`,
    );
}

/** A built `llama-server`, and the folder with its libraries. */
export type Built = { program: string; libraries: string };

/** Throws `MissingError` where a package or a compiler is missing, and an Error when the build fails. */
export async function serverProgram(cache: string, say: Say): Promise<Built> {
  const kept = await cached(cache, `libraries-${libraries.version}`, (folder) => {
    say(`fetching ${libraries.name}, 11 MB`);
    return unpack(libraries, folder);
  });
  const bins = join(kept, "bins", "linux-x64");
  const version = `${sources.version}-${createHash("sha256").update(readFileSync(recipe)).digest("hex").slice(0, 8)}`;
  const built = await cached(cache, `server-${version}`, (folder) => build(folder, bins, say));
  return { program: join(built, "llama-server"), libraries: bins };
}

async function build(folder: string, bins: string, say: Say): Promise<void> {
  const ninja = await hasProgram("ninja");
  const missing = await missingPrograms(["git", "cmake", "g++", ...(ninja ? [] : ["make"])]);
  if (missing.length > 0)
    throw new MissingError(`${missing.join(", ")} not installed: llama-server cannot be built`);
  say(`fetching ${sources.name}, 36 MB`);
  const unpacked = join(folder, "package");
  const source = join(folder, "source");
  await unpack(sources, unpacked);
  const bundle = join(unpacked, "llama", "gitRelease.bundle");
  await must("git", ["clone", "--quiet", "-c", "advice.detachedHead=false", bundle, source]);
  say("building llama-server, about 5 minutes of one processor");
  const made = join(folder, "build");
  const defined = [`-DSOURCE=${source}`, `-DLIBRARIES=${bins}`];
  await must("cmake", [
    "-S",
    import.meta.dirname,
    "-B",
    made,
    "-G",
    ninja ? "Ninja" : "Unix Makefiles",
    ...defined,
  ]);
  await must("nice", ["-n", "15", "cmake", "--build", made, "--parallel", jobs]);
  renameSync(join(made, "llama-server"), join(folder, "llama-server"));
  for (const done of [unpacked, source, made]) rmSync(done, { recursive: true });
}

async function missingPrograms(programs: readonly string[]): Promise<string[]> {
  const found = await Promise.all(programs.map(hasProgram));
  return programs.filter((_, index) => !found[index]);
}

async function hasProgram(program: string): Promise<boolean> {
  return run(program, ["--version"]).then(
    ({ code }) => code === 0,
    () => false,
  );
}
