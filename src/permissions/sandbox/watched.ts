/** Files that programs outside the sandbox run or obey: new ones are quarantined, changed ones reported. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { changedFiles, started } from "../../core/questions.ts";
import { folded, isRunElsewhere } from "../names.ts";
import { isInside, nameOf } from "../paths.ts";

/** Names that commands may change freely although other programs run them: builds, tests, installs. */
const notedNames =
  /^(?:package\.json|makefile|gnumakefile|justfile|rakefile|\.npmrc|\.yarnrc(?:\.yml)?|\.gitattributes|conftest\.py|setup\.py|build\.rs|dockerfile|(?:docker-)?compose\.ya?ml|\.gitlab-ci\.yml|jenkinsfile)$/;

/** Returns true for a file whose change is reported at the end without a question. */
export function isNoted(path: string): boolean {
  const plain = folded(path);
  return notedNames.test(nameOf(plain)) || /(?:^|\/)\.github\/(?:workflows|actions)\//.test(plain);
}

/** Names at the top of a workspace to check for changes by a command; folders with their files. */
export const notedAtTop = [
  ...[
    "package.json",
    "Makefile",
    "GNUmakefile",
    "justfile",
    "Rakefile",
    ".npmrc",
    ".yarnrc.yml",
    ".gitattributes",
  ],
  ...[
    "conftest.py",
    "setup.py",
    "build.rs",
    "Dockerfile",
    "compose.yml",
    "docker-compose.yml",
    ".gitlab-ci.yml",
  ],
  ...["Jenkinsfile", ".github/workflows", ".github/actions"],
  // What editors start, and the steps that `git rebase --continue` runs, where commands left one half done.
  ...[".venv/bin/python", "venv/bin/python", ".git/rebase-merge/git-rebase-todo"],
] as const;

/** Lists the files changed by the session that other programs run, in order of first change. */
export function runsElsewhere(events: readonly LogEvent[]): string[] {
  const root = started(events)?.cwd ?? "/";
  const isRun = (path: string) =>
    isNoted(path) || (isInside(path, root) && isRunElsewhere(path.slice(root.length + 1)));
  const byCommands = events.flatMap((event) => (event.type === "runs_elsewhere" ? event.paths : []));
  return [...new Set([...changedFiles(events).filter(isRun), ...byCommands])];
}

/** Lists the files in quarantine that were not restored. */
export function inQuarantine(events: readonly LogEvent[]): EventOf<"quarantined">[] {
  const kept = new Map<string, EventOf<"quarantined">>();
  for (const event of events) {
    if (event.type !== "quarantined") continue;
    if (event.accepted) kept.delete(event.kept);
    else kept.set(event.kept, event);
  }
  return [...kept.values()];
}
