/** Files that programs outside of the sandbox run or obey: kept away when they appear, or told when they change. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { changedFiles, started } from "../../core/questions.ts";
import { folded, isRunElsewhere } from "../names.ts";
import { isInside, nameOf } from "../paths.ts";

/** Names that commands may change freely, and that other programs run nevertheless: builds, tests, installs. */
const notedNames =
  /^(?:package\.json|makefile|gnumakefile|justfile|rakefile|\.npmrc|\.yarnrc(?:\.yml)?|\.gitattributes|conftest\.py|setup\.py|build\.rs|dockerfile|(?:docker-)?compose\.ya?ml|\.gitlab-ci\.yml|jenkinsfile)$/;

/** Returns true for a file whose change is told at the end, though nobody is asked. */
export function isNoted(path: string): boolean {
  const plain = folded(path);
  return notedNames.test(nameOf(plain)) || /(?:^|\/)\.github\/(?:workflows|actions)\//.test(plain);
}

/** The names at the top of a workspace that a command may have changed; folders with their files. */
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
] as const;

/** Lists the files that the session changed and that other programs run, in the order of their first change. */
export function runsElsewhere(events: readonly LogEvent[]): string[] {
  const root = started(events)?.cwd ?? "/";
  const isRun = (path: string) =>
    isNoted(path) || (isInside(path, root) && isRunElsewhere(path.slice(root.length + 1)));
  const byCommands = events.flatMap((event) => (event.type === "runs_elsewhere" ? event.paths : []));
  return [...new Set([...changedFiles(events).filter(isRun), ...byCommands])];
}

/** Lists what is in quarantine, and has not been put back. */
export function inQuarantine(events: readonly LogEvent[]): EventOf<"quarantined">[] {
  const kept = new Map<string, EventOf<"quarantined">>();
  for (const event of events) {
    if (event.type !== "quarantined") continue;
    if (event.accepted) kept.delete(event.kept);
    else kept.set(event.kept, event);
  }
  return [...kept.values()];
}
