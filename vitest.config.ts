import { defineConfig } from "vitest/config";
import { fastFolder } from "./test/support/fast-folder.ts";

/** Files that measure the process they run in: each gets a fresh one. */
const measuring = ["test/tools/bash/soak.test.ts", "test/tools/bash/output.test.ts"];
/** Files with real walls, behind which `/dev/shm` is another. */
const walled = ["test/sandbox/**/*.test.ts", "test/network/**/*.test.ts", "test/mcp/**/*.test.ts"];
/** Needs a real model: `npm run lane`. */
const lane = "test/lane/**";
const fast = fastFolder();
const temporary = fast === undefined ? {} : { TMPDIR: fast };

// Tests use real shells and real servers and wait for them more than they compute: more workers than processors keep
// two of these at work. A worker runs file after file, because starting one and loading the source anew for each
// file was a tenth of the whole run. Limits are wide: under load a wait may be long, and no test is about speed.
export default defineConfig({
  test: {
    globalSetup: "test/support/build.ts",
    pool: "forks",
    maxWorkers: 6,
    // React as the program has it.
    env: { NODE_ENV: "production" },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...measuring, ...walled, lane],
          isolate: false,
          env: temporary,
        },
      },
      { extends: true, test: { name: "walled", include: walled, isolate: false } },
      { extends: true, test: { name: "alone", include: measuring, env: temporary } },
    ],
  },
});
