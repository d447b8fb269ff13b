import { defineConfig } from "vitest/config";

// A browser or two at once are enough for a small machine.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/servers/**/*.test.ts"],
    globalSetup: "test/support/build.ts",
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
