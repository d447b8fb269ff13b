import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { fastFolder } from "./test/support/fast-folder.ts";
import { LongestFirst } from "./test/support/longest-first.ts";
import { pathToPython } from "./test/support/real-python.ts";
import { patienceMs } from "./test/support/until.ts";

/** Files that measure the process they run in: each gets a fresh one. */
const measuring = [
  ...["test/tools/bash/soak.test.ts", "test/tools/bash/output.test.ts"],
  // V8 counts the blocks only of what it compiles after the counting began.
  ...["test/agent/growth.test.ts", "test/context/report/growth.test.ts"],
];
/** They need a real model, and packages that npm fetches: `npm run lane`, `npm run test:servers`. */
const elsewhere = ["test/lane/**", "test/servers/**"];
const fast = fastFolder();
/** Where temporary folders are: `test/support/temporary.ts` chooses for each file. */
const temporary = fast === undefined ? {} : { SAWTOOTH_TEST_MEMORY: fast, SAWTOOTH_TEST_DISK: tmpdir() };

// Tests use real shells and real servers and wait for them more than they compute: more workers than processors keep
// two of these at work. A worker runs file after file, because starting one and loading the source anew for each
// file was a tenth of the whole run. No test is about speed: limits are what a busy machine keeps, and a test that takes
// more than 30 s on a quiet one has its own.
export default defineConfig({
  test: {
    globalSetup: "test/support/build.ts",
    pool: "forks",
    maxWorkers: 6,
    // Starting a program takes the longer, the more memory the process has that starts it: V8 would give 128 MB to new
    // objects alone, and thousands of programs are started.
    execArgv: ["--max-semi-space-size=8"],
    // React as the program has it.
    env: { NODE_ENV: "production", PATH: pathToPython(), ...temporary },
    setupFiles: "test/support/temporary.ts",
    sequence: { sequencer: LongestFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Without it what is polled for has one second to come.
    expect: { poll: { timeout: patienceMs } },
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...measuring, ...elsewhere],
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: measuring } },
    ],
  },
});
