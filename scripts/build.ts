/** Bundles src/cli/main.ts into dist/; what only one mode needs is a file of its own, so that start-up reads little. */

import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { startFast } from "./start-fast.ts";

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
  // Some bundled packages are CommonJS and ask for `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
};
/**
 * A file for each set of lazily loaded parts that share some code would be forty files for a run, and finding them half
 * of its start. So each part is said to need what every run loads, which then becomes one file.
 */
const shareOneFile: Plugin = {
  name: "share-one-file",
  setup({ onResolve, onLoad }) {
    const shared = join(root, "src/cli/commands.ts");
    onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) =>
      kind === "dynamic-import" ? { path: resolve(resolveDir, path), namespace: "lazy" } : undefined,
    );
    onLoad({ filter: /./, namespace: "lazy" }, ({ path }) => ({
      contents: `import ${JSON.stringify(shared)};\nexport * from ${JSON.stringify(path)};`,
      resolveDir: root,
    }));
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
const builds = [
  build({
    ...common,
    entryPoints: { main: "src/cli/main.ts" },
    splitting: true,
    plugins: [shareOneFile, startFast, withoutAjv],
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
const outputs: Metafile["outputs"] = Object.assign(
  {},
  ...(await Promise.all(builds)).map(({ metafile }) => metafile?.outputs),
);
for (const name of readdirSync(join(root, "dist"))) {
  // What earlier builds left; removed only now, so that there is an agent at any moment.
  if (!(`dist/${name}` in outputs)) rmSync(join(root, "dist", name), { recursive: true });
}
const sizes = Object.values(outputs).map(({ bytes }) => bytes);
const bytes = sizes.reduce((sum, size) => sum + size, 0);
process.stdout.write(`dist: ${sizes.length} files, ${Math.round(bytes / 1024)} KiB\n`);
