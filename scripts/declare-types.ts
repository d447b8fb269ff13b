/** Writes the declarations of the library's stable surface into dist/types. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";

const folder = "types";
const surface = "library/surface.d.ts";
/** The functions and classes of src/library/create-agent.ts, whose types src/library/surface.ts declares. */
const entry = `export type * from "./library/surface.js";
import type { CreateAgent, DefineModel } from "./library/surface.js";
/** Opens a session, new or stored. Rejects with \`UsageError\` for options that make no sense. */
export declare const createAgent: CreateAgent;
/** Makes a model of a function. */
export declare const defineModel: DefineModel;
export { UsageError } from "./core/errors.js";
export { ModelError } from "./core/ports.js";
`;

/** Declares the surface and the files that it takes types from, and no others. Rejects when it cannot be compiled. */
export async function declareTypes(root: string): Promise<{ folder: string; files: number; bytes: number }> {
  const made = mkdtempSync(join(root, "node_modules/.declared-"));
  try {
    const options =
      "--ignoreConfig --declaration --emitDeclarationOnly --noCheck --target es2024 --module nodenext --strict --exactOptionalPropertyTypes --allowImportingTsExtensions --types";
    const sources = [join(root, "src/library/surface.ts"), join(root, "src/core/errors.ts")];
    const words = [...options.split(" "), "node", "--rootDir", join(root, "src"), "--outDir", made];
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    await promisify(execFile)(process.execPath, [tsc, ...words, ...sources], { cwd: root });
    const declared = new Map([["index.d.ts", entry]]);
    for (const path of [surface, "core/errors.d.ts"]) take(made, path, declared);
    const out = join(root, "dist", folder);
    rmSync(out, { recursive: true, force: true });
    for (const [path, text] of declared) {
      mkdirSync(dirname(join(out, path)), { recursive: true });
      writeFileSync(join(out, path), text);
    }
    const bytes = [...declared.values()].reduce((sum, text) => sum + text.length, 0);
    return { folder, files: declared.size, bytes };
  } finally {
    rmSync(made, { recursive: true });
  }
}

/** Takes a declared file and those that it names. Imports end in .js, as everywhere outside of our sources. */
function take(made: string, path: string, declared: Map<string, string>): void {
  if (declared.has(path)) return;
  const text = readFileSync(join(made, path), "utf8");
  const named = /(from "\.[^"]*)\.ts"/g;
  declared.set(path, text.replace(named, '$1.js"'));
  for (const [, words = ""] of text.matchAll(named))
    take(made, normalize(join(dirname(path), `${words.slice('from "'.length)}.d.ts`)), declared);
}
