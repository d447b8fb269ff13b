/** The order of the files: what takes longest begins first, so that nothing long is left to one worker at the end. */

import {
  BaseSequencer,
  type TestSequencer,
  type TestSequencerConstructor,
  type TestSpecification,
  type Vitest,
} from "vitest/node";

/**
 * Files that took longest on two cores, the longest first. The rest is ordered by the times of the last run, and in a
 * new clone by size.
 */
const longest = [
  "tui/takeover",
  "agent/strict",
  "mcp/endings",
  "cli/fix/cheating",
  "cli/compaction-faults",
  "cli/fix/fix",
  "cli/docs",
  "cli/fix/ci",
  "cli/batch/examples",
  "cli/batch/stop",
  "cli/resume",
  "mcp/servers",
  "sandbox/obedient",
  "acp/acpx",
  "cli/batch/batch",
  "lab/evals/evals",
  "cli/undo",
  "sandbox/hostile-state",
  "tools/bash/input",
  "lab/recordings",
  "tui/terminal-death",
  "cli/fix/delivery",
  "cli/faults",
  "tools/bash/limits",
  "cli/exit-codes",
  "context/policies/long-session",
  "network/network",
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return rank < 0 ? longest.length : rank;
}

function longestFirst(context: Vitest): TestSequencer {
  const usual = new BaseSequencer(context);
  return {
    shard: (files) => usual.shard(files),
    async sort(files) {
      const sorted = await usual.sort(files);
      // Those of a project stay together: workers are not shared between two.
      const apart = sorted.filter(({ project }) => project.name !== "shared");
      const shared = sorted.filter(({ project }) => project.name === "shared");
      return [...apart, ...shared.toSorted((a, b) => rankOf(a) - rankOf(b))];
    },
  };
}

/** Called with `new`, as vitest does; a function may return another object then. */
export const LongestFirst = longestFirst as unknown as TestSequencerConstructor;
