import { defineConfig } from "vitest/config";

// One server with one model: file after file, test after test, and limits as wide as a slow processor needs.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/lane/**/*.test.ts"],
    globalSetup: "test/support/build.ts",
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 120_000,
    bail: 0,
  },
});
