import { expect, test } from "vitest";
import type { PermissionMode } from "../../src/core/decision.ts";
import type { SandboxStatus } from "../../src/core/sandbox.ts";
import { type Facts, statusRows } from "../../src/tui/blocks/status.ts";
import { plain, rowWidth } from "../../src/tui/rows/rows.ts";

const none: SandboxStatus = {
  ...{ engine: "none", files: false, hidden: false, processes: false, network: "open" },
};
const landlock: SandboxStatus = { ...none, engine: "landlock", files: true, hidden: true, processes: true };
const full: SandboxStatus = { ...landlock, engine: "namespaces", network: "names" };

function rows(sandbox: SandboxStatus, mode: PermissionMode, columns: number): string[] {
  const facts: Facts = {
    ...{ model: "anthropic/claude-sonnet-5-5", tokens: 3800, soft: 120_000, sizes: [3800], turnCost: 0 },
    ...{ cost: 0.01, deferredTokens: 0, deferralCost: { step: 0, flush: 0 }, sandbox },
  };
  const drawn = statusRows(facts, mode, { cwd: "/srv/a/long/folder", branch: "main" }, columns);
  for (const row of drawn) expect(rowWidth(row)).toBeLessThanOrEqual(columns);
  return drawn.map(plain);
}

test.each([
  [none, "no sandbox"],
  [landlock, "not full"],
])("in the mode that asks nothing missing walls are told in every width: %o", (sandbox, words) => {
  for (const columns of [30, 40, 59, 60, 80, 200]) expect(rows(sandbox, "auto", columns)[0]).toContain(words);
  expect(rows(sandbox, "auto", 40)).toEqual([expect.stringContaining("3.8k of 120k")]);
  expect(rows(sandbox, "auto", 3)).toEqual([expect.stringMatching(/^.{1,3}$/)]);
});

test("what sub-agents cost apart and in place stands beside the context", () => {
  const base: Facts = {
    ...{ model: "anthropic/claude-sonnet-5-5", tokens: 3800, soft: 120_000, sizes: [3800], turnCost: 0 },
    ...{ cost: 0.01, deferredTokens: 0, deferralCost: { step: 0, flush: 0 } },
  };
  const shown = (delegates: Facts["delegates"]) =>
    plain(
      statusRows(
        { ...base, ...(delegates ? { delegates } : {}) },
        "ask",
        { cwd: "/srv", branch: "main" },
        110,
      )[1] ?? [],
    );
  expect(shown({ running: 2, apartUsd: 0.0123, inPlaceUsd: 0 })).toContain("  2 sub-agents, $0.0123");
  expect(shown({ running: 0, apartUsd: 0.02, inPlaceUsd: 0.21 })).toContain(
    "  sub-agents: $0.0200 apart, $0.21 in place",
  );
  expect(shown(undefined)).not.toContain("sub-agent");
});

test("walls that stand are named where there is room, and the context keeps its bar where there is little", () => {
  expect(rows(full, "auto", 80)[0]).toContain("  sandbox  ");
  expect(rows(full, "auto", 40)).toEqual([expect.stringContaining("context ")]);
  expect(rows(none, "accept-edits", 50)).toEqual([expect.stringContaining("context ")]);
});
