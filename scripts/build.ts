/**
 * Bundles the program and the library into dist/; what only one mode needs is a file of its own, so that start-up reads
 * little.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin, transform } from "esbuild";
import { manPage } from "../src/cli/man-page.ts";
import { compileEarly } from "./compile-early.ts";
import { declareTypes } from "./declare-types.ts";
import { partsOfNode, startFast } from "./start-fast.ts";
import { packageOf, thirdParty } from "./third-party.ts";

const root = join(import.meta.dirname, "..");
const common: BuildOptions = {
  absWorkingDir: root,
  outdir: "dist",
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22.12",
  // The second is for people who debug Ink; the chunk that asks for it is never loaded.
  external: ["@lydell/node-pty", "react-devtools-core"],
  // Its CommonJS asks for its own files by a `require` that cannot be bundled.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  define: { "process.env.NODE_ENV": '"production"' },
  minifySyntax: true,
  legalComments: "linked",
  metafile: true,
  // Some bundled packages are CommonJS and ask for parts of Node. To make a whole `require` takes half a millisecond a file.
  banner: {
    js: 'const require = (name) => { const found = process.getBuiltinModule(name); if (!found) throw new Error("Cannot find module " + name); return found; };',
  },
  logLevel: "warning",
};
const library = "src/library/create-agent.ts";
/** Parts that every run loads before its first request. */
const everyRun = ["src/cli/run.ts", "src/cli/run-headless.ts"];
/** Parts that are loaded after it: with the first call of a tool, its sandbox, or the end. */
const later = [
  "src/app/network/session-network.ts",
  "src/app/bash-grammar.ts",
  "src/app/mcp/shell-calls.ts",
  "src/app/opening/permit.ts",
  "src/permissions/decide.ts",
  "src/permissions/sandbox/denials.ts",
  "src/sandbox/engine.ts",
  "src/sandbox/inside.ts",
  "src/tools/bash/run-command.ts",
  "src/tools/editor/run-edit.ts",
  "src/undo/snapshots.ts",
];
/** Parts that a conversation needs besides, on the screen, in an editor or in a program. */
const talking = [
  "src/app/model-switch.ts",
  "src/app/stored-sessions.ts",
  "src/tui/blocks/notes.ts",
  "src/tui/input/command-line.ts",
];
/** An editor's session. */
const editor = "src/cli/acp/acp.ts";
/** Parts that may be loaded before the first request, and so need nothing of what is loaded after it. */
const early =
  /^src\/(models|library|app\/(providers|mcp\/open-servers)|cli\/(acp\/acp|headless|interactive|help|run-headless))/;
/** Files of which a lazily loaded part is said to need all or none, so that they become one. `by`: tells whether the part of this path needs them. */
const shared: { files: readonly string[]; by(path: string): boolean }[] = [
  { files: everyRun, by: () => true },
  { files: later, by: (path) => !early.test(path) },
  {
    files: talking,
    by: (path) => !early.test(path) || /^src\/(library|cli\/(acp|interactive))/.test(path),
  },
  { files: [editor], by: (path) => /^src\/(acp\/|cli\/acp\/(?!acp\.ts))/.test(path) },
];
/**
 * A file for each set of lazily loaded parts that share some code would be over a hundred files, and finding them half
 * of a start. So each part is said to need what every run loads, each but the early ones what is loaded after the first
 * request, and so on: each of these becomes a file. The names that the later parts export must differ, for they become one.
 * Imports inside of packages are left alone: for a CommonJS one all of ours would be wrapped in functions, file by file.
 */
const shareFiles: Plugin = {
  name: "share-files",
  setup({ onResolve, onLoad }) {
    const absolute = (files: readonly string[]) => files.map((file) => join(root, file));
    const second = absolute(later);
    const from = (words: string, files: readonly string[]): string =>
      files.map((file) => `${words} ${JSON.stringify(file)};\n`).join("");
    onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) => {
      const file = resolve(resolveDir, path);
      // The library shares the files of the program, which must not be split further for it.
      if (kind === "entry-point" && file === join(root, library)) return { path: file, namespace: "lazy" };
      if (kind !== "dynamic-import" || !file.startsWith(join(root, "src"))) return undefined;
      return { path: second.includes(file) ? "later" : file, namespace: "lazy" };
    });
    onLoad({ filter: /./, namespace: "lazy" }, ({ path }) => {
      const part = path.replace(join(root, "/"), "");
      const needed = shared.flatMap(({ files, by }) => (by(part) ? absolute(files) : []));
      const given = path === "later" ? second : [path];
      return { contents: from("import", needed) + from("export * from", given), resolveDir: root };
    });
  },
};
/** Leaves the schema checker out that the MCP client brings along: it is given ours, and 290 kB are not read. */
const withoutAjv: Plugin = {
  name: "without-ajv",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@modelcontextprotocol\/client\/_shims$/ }, ({ path }) => ({
      path,
      namespace: "shims",
    }));
    onLoad({ filter: /./, namespace: "shims" }, () => ({
      contents: "export const CORS_IS_POSSIBLE = false; export class DefaultJsonSchemaValidator {}",
    }));
  },
};
/**
 * Leaves the schemas of the Agent Client Protocol out, and with them the library that they are written in: 190 kB, and a
 * third of the time to the first request. Without a schema the SDK takes parameters as they are; src/acp/params.ts
 * checks them.
 */
const withoutProtocolSchemas: Plugin = {
  name: "without-protocol-schemas",
  setup({ onLoad }) {
    onLoad(
      { filter: /agentclientprotocol[\\/]sdk[\\/]dist[\\/].*[\\/](zod|guards)\.gen\.js$/ },
      ({ path }) => {
        const names = [...readFileSync(path, "utf8").matchAll(/^export const (\w+)/gm)].map(
          ([, name]) => name,
        );
        return { contents: names.map((name) => `export const ${name} = undefined;`).join("\n") };
      },
    );
  },
};
const builds = [
  build({
    ...common,
    entryPoints: { main: "src/cli/main.ts", library },
    splitting: true,
    plugins: [shareFiles, partsOfNode, startFast, withoutAjv, withoutProtocolSchemas],
  }),
  // Threads start from files of their own, and share nothing.
  build({
    ...common,
    entryPoints: {
      "replay-worker": "src/lab/replay/worker.ts",
      "scale-worker": "src/tools/editor/images/scale-worker.ts",
      "markdown-worker": "src/tools/fetch/markdown-worker.ts",
    },
  }),
];
const [types, ...results] = await Promise.all([declareTypes(root), ...builds]);
const outputs: Metafile["outputs"] = Object.assign({}, ...results.map(({ metafile }) => metafile?.outputs));
for (const name of readdirSync(join(root, "dist"))) {
  // What earlier builds left; removed only now, so that there is an agent at any moment.
  if (name !== types.folder && !(`dist/${name}` in outputs))
    rmSync(join(root, "dist", name), { recursive: true });
}
writeManPage();
writeFileSync(join(root, "THIRD-PARTY.md"), thirdParty(root, outputs));
const programs = Object.entries(outputs).filter(([path]) => path.endsWith(".js"));
const [foreign, own] = [true, false].map((of) => programs.filter(([, output]) => isForeign(output) === of));
await Promise.all((foreign ?? []).map(([path, output]) => shorten(path, output)));
for (const [path] of programs) spellInAscii(join(root, path));
await compileEarly(
  join(root, "dist/main.js"),
  (own ?? []).map(([path]) => join(root, path)),
);
const sizes = Object.keys(outputs).map((path) => statSync(join(root, path)).size);
const bytes = sizes.reduce((sum, size) => sum + size, types.bytes);
process.stdout.write(`dist: ${sizes.length + types.files} files, ${Math.round(bytes / 1024)} KiB\n`);

/** Writes man/sawtooth.1, with the date of the last commit: the same sources give the same page. */
function writeManPage(): void {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  mkdirSync(join(root, "man"), { recursive: true });
  writeFileSync(join(root, "man/sawtooth.1"), manPage({ version, date: dateOfSources() }));
}

function dateOfSources(): string {
  try {
    const words = ["-C", root, "log", "-1", "--format=%cs"];
    return execFileSync("git", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return statSync(join(root, "package.json")).mtime.toISOString().slice(0, 10);
  }
}

/** Returns true for a file of which two thirds or more are code of others. */
function isForeign({ inputs }: Metafile["outputs"][string]): boolean {
  const size = (of: typeof inputs) =>
    Object.values(of).reduce((sum, { bytesInOutput }) => sum + bytesInOutput, 0);
  const others = Object.entries(inputs).filter(([input]) => packageOf(input) !== undefined);
  return size(Object.fromEntries(others)) * 3 >= size(inputs) * 2;
}

/**
 * Removes the white space of a file of others; these are a quarter of the package. Ours stay as they are, so that the
 * place of an error can be read; which sources a file holds is still said in its first lines.
 */
async function shorten(path: string, { inputs }: Metafile["outputs"][string]): Promise<void> {
  const file = join(root, path);
  const { code } = await transform(readFileSync(file, "utf8"), {
    ...{
      format: "esm",
      platform: "node",
      target: "node22.12",
      minifyWhitespace: true,
      legalComments: "inline",
    },
  });
  const sources = new Set(Object.keys(inputs).map((input) => packageOf(input) ?? input));
  const named = [...sources].filter((source) => /^(src|node_modules)\//.test(source));
  writeFileSync(file, `${named.map((source) => `// ${source}\n`).join("")}${code}`);
}

/**
 * Spells the letters beyond ASCII that esbuild leaves in regular expressions: with one of them V8 holds the whole file in
 * two bytes a letter, and each start spends 4 % of its work on that.
 */
function spellInAscii(file: string): void {
  const code = readFileSync(file, "utf8");
  const spelled = code.replace(
    /[^\0-\x7f]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  if (spelled !== code) writeFileSync(file, spelled);
}
