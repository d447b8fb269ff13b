/** Where programs are started, read off the source: each place is known, and git has one. */

import { globSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { find, read, root, type Source } from "./support/source.ts";

/** The files that start programs, each with the environment that its children get. */
const spawners: Record<string, string> = {
  "src/git/run.ts": "git: without secrets",
  "src/tools/bash/shell/bash-process.ts": "the shell: childEnvironment",
  "src/sandbox/box.ts": "the sandbox of the shell: childEnvironment, without doors",
  "src/mcp/process.ts": "a server: HOME, LOGNAME, PATH, SHELL, TERM, USER, and what the person configured",
  "src/sandbox/engine.ts": "bwrap --version: nothing",
  "src/network/door.ts": "the door of the network: nothing",
  "src/sandbox/mount-inside.ts": "the helper that mounts in a sandbox: nothing",
  "src/tools/bash/shell/process-table-ps.ts": "ps: a PATH",
  "src/tools/editor/replace-file.ts": "/bin/cp: nothing",
  "src/tools/editor/syntax.ts": "bash -n, node --check and python3 as parsers: nothing",
  "src/tui/screen/guard.ts": "stty and sh: a PATH",
  "src/cli/batch/child.ts": "the program itself: everything, it needs the key",
  "src/cli/commands/demo.ts": "npm test: without secrets",
  "src/cli/commands/doctor.ts": "--version of programs: PATH and HOME",
  "src/cli/checks/check.ts": "checks: childEnvironment",
  "src/cli/interactive/host.ts": "the editor behind Ctrl-G: without secrets",
  "src/cli/interactive/notifier.ts": "the program that shows notices: without secrets",
  "src/cli/interactive/clipboard.ts": "the program that reads the clipboard: without secrets",
  "src/hooks/run-hook.ts": "a hook of the person: without secrets",
  "src/app/plugins/fetch-plugin.ts": "npm, for a plug-in: without secrets",
  "src/cli/update/update.ts": "npm view: without secrets",
  "src/sandbox/landlock.ts": "perl or python3, to ask the kernel: nothing",
  "src/app/machine.ts": "the opener of a report: childEnvironment",
};

const startsPrograms = ({ imports }: Source): boolean =>
  imports.some(({ specifier, typeOnly }) => /^(node:)?(child_process|cluster)$/.test(specifier) && !typeOnly);

const programsAreStartedInFewPlaces = (source: Source): string[] => {
  if (!startsPrograms(source) || source.path in spawners) return [];
  return [`${source.path}:1 starts programs: say in \`spawners\` what they get of the environment`];
};

const gitIsStartedInOnePlace = (source: Source): string[] =>
  source.path === "src/git/run.ts"
    ? []
    : find(
        source,
        (node) =>
          node.type === "CallExpression" &&
          /^(promisify\()?(spawn|exec|fork|run)\w*\)?\(\s*["'`]git\b/.test(source.text.slice(node.start)),
        () => "git is started elsewhere than in git/run.ts",
      );

const sources = globSync("src/**/*.ts", { cwd: root })
  .sort()
  .map((path) => read(path));

describe("S64 one-spawner", () => {
  test.each([
    ["programs", programsAreStartedInFewPlaces, 'import { spawn } from "node:child_process"'],
    ["git", gitIsStartedInOnePlace, 'spawn("git", [])'],
  ])("%s are started only where their environment is known", (_what, rule, sample) => {
    expect(sources.flatMap(rule)).toEqual([]);
    expect(rule(read("src/cli/a.ts", sample))).toHaveLength(1);
  });

  test("each file of the list starts programs", () => {
    const found = sources.filter(startsPrograms).map(({ path }) => path);
    expect(Object.keys(spawners).filter((path) => !found.includes(path))).toEqual([]);
  });
});
