import { expect, test } from "vitest";
import { inQuarantine, isNoted, runsElsewhere } from "../../../src/permissions/sandbox/watched.ts";
import { memoryLog, started } from "../../support/logs.ts";

test.each([
  ["/w/package.json", true],
  ["/w/packages/a/Package.JSON", true],
  ["/w/.github/workflows/ci.yml", true],
  ["/w/Dockerfile", true],
  ["/w/tests/conftest.py", true],
  ["/w/src/index.ts", false],
  ["/w/package.json.md", false],
  ["/w/.github/ISSUE_TEMPLATE.md", false],
])("that other programs run %s is told: %s", (path, noted) => {
  expect(isNoted(path)).toBe(noted);
});

test("the log says which changed files other programs run, and what is still in quarantine", () => {
  const log = memoryLog([started()]);
  const root = String((log.events()[0] as { cwd?: string }).cwd);
  const wrote = (...paths: string[]) =>
    log.append({
      ...{ type: "tool_result", toolUseId: "t", toolName: "x", content: "", isError: false },
      stats: { wrote: paths },
    });
  wrote(`${root}/src/a.ts`, `${root}/package.json`, `${root}/.vscode/tasks.json`);
  log.append({ type: "runs_elsewhere", paths: [`${root}/package.json`, `${root}/Makefile`] });
  expect(runsElsewhere(log.events())).toEqual([
    `${root}/package.json`,
    `${root}/.vscode/tasks.json`,
    `${root}/Makefile`,
  ]);
  log.append({ type: "quarantined", path: `${root}/.envrc`, kept: "/q/1/.envrc" });
  log.append({ type: "quarantined", path: `${root}/.idea`, kept: "/q/2/.idea" });
  log.append({ type: "quarantined", path: `${root}/.envrc`, kept: "/q/1/.envrc", accepted: true });
  expect(inQuarantine(log.events()).map(({ kept }) => kept)).toEqual(["/q/2/.idea"]);
});
