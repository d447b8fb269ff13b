import { defineConfig } from "vitest/config";

// Tests use real shells and real servers: forks keep one test's processes out of another's, and two files
// at a time is what two cores carry without turning waits into failures.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "test/**/*.test.tsx"],
    globalSetup: "test/support/build.ts",
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
