import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { fastFolder } from "./test/support/fast-folder.ts";
import { LongestFirst } from "./test/support/longest-first.ts";

/** Files that measure the process they run in: each gets a fresh one. */
const measuring = ["test/tools/bash/soak.test.ts", "test/tools/bash/output.test.ts"];
/** Needs a real model: `npm run lane`. */
const lane = "test/lane/**";
const fast = fastFolder();
/** Where temporary folders are: `test/support/temporary.ts` chooses for each file. */
const temporary = fast === undefined ? {} : { SAWTOOTH_TEST_MEMORY: fast, SAWTOOTH_TEST_DISK: tmpdir() };

// Tests use real shells and real servers and wait for them more than they compute: more workers than processors keep
// two of these at work. A worker runs file after file, because starting one and loading the source anew for each
// file was a tenth of the whole run. Limits are wide: under load a wait may be long, and no test is about speed.
export default defineConfig({
  test: {
    globalSetup: "test/support/build.ts",
    pool: "forks",
    maxWorkers: 6,
    // React as the program has it.
    env: { NODE_ENV: "production", ...temporary },
    setupFiles: "test/support/temporary.ts",
    sequence: { sequencer: LongestFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...measuring, lane],
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: measuring } },
    ],
  },
});
