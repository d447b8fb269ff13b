/**
 * Programs that tests start: each is a file of its own with compiled code beside it, as starting one from its sources
 * costs three times as much. `build.ts` bundles them before any test.
 */

import { fileURLToPath } from "node:url";

const published = (name: string) => `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;

/** Where they come from, below the root. */
export const programSources = {
  conformance: "node_modules/@modelcontextprotocol/conformance/dist/index.js",
  "mcp-server": "test/support/mcp-server.ts",
  "mcp-raw": "test/support/mcp-raw.ts",
  "mcp-recorded": "test/support/mcp-recorded.ts",
  everything: published("everything"),
  filesystem: published("filesystem"),
  memory: published("memory"),
};

/** Absolute folder that holds them. */
export const programsFolder = fileURLToPath(
  new URL("../../node_modules/.cache/test-programs", import.meta.url),
);

/** Absolute path of what Node starts. */
export function testProgram(name: keyof typeof programSources): string {
  return `${programsFolder}/${name}.js`;
}
