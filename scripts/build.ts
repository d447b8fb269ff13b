/** Bundles src/cli/main.ts into dist/, one file per mode, so that start-up reads few files. */

import { rmSync } from "node:fs";
import { build } from "esbuild";

rmSync("dist", { recursive: true, force: true });
const result = await build({
  entryPoints: { main: "src/cli/main.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22.12",
  external: ["@lydell/node-pty"],
  minifySyntax: true,
  legalComments: "linked",
  sourcemap: false,
  metafile: true,
  // Some bundled packages are CommonJS and ask for `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
const bytes = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(
  `dist: ${Object.keys(result.metafile.outputs).length} files, ${Math.round(bytes / 1024)} KiB\n`,
);
