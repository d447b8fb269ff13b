/** Bundles the programs that tests start. */

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { fastStart } from "./entry.ts";
import { programSources, programsFolder } from "./programs.ts";

/** Files that a program finds beside its source are found there. */
const ownPlace: Plugin = {
  name: "own-place",
  setup({ onLoad }) {
    onLoad(
      { filter: /modelcontextprotocol[\\/]server-\w+[\\/]dist[\\/].*\.js$|test[\\/]support[\\/].*\.ts$/ },
      ({ path }) => ({
        contents: readFileSync(path, "utf8").replaceAll(
          "import.meta.url",
          JSON.stringify(pathToFileURL(path).href),
        ),
        loader: path.endsWith(".ts") ? "ts" : "js",
        resolveDir: dirname(path),
      }),
    );
  },
};

/** Each is a file that starts it with the code that was compiled when it ran before, and the bundle. */
export async function buildPrograms(): Promise<void> {
  await build({
    absWorkingDir: fileURLToPath(new URL("../..", import.meta.url)),
    entryPoints: programSources,
    outdir: programsFolder,
    outExtension: { ".js": ".main.js" },
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: "esm",
    platform: "node",
    target: "node22.12",
    plugins: [ownPlace],
    // For packages that are CommonJS.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  writeFileSync(join(programsFolder, "package.json"), '{ "type": "module" }\n');
  for (const name of Object.keys(programSources))
    writeFileSync(join(programsFolder, `${name}.js`), starting(name));
}

const starting = (name: string) => `import { enableCompileCache, flushCompileCache } from "node:module";
enableCompileCache(${JSON.stringify(fastStart.NODE_COMPILE_CACHE)});
await import("./${name}.main.js");
// Servers are often ended by a signal.
flushCompileCache();
`;
