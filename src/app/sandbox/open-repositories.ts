/** Looks for what makes git run programs in repositories that no wall protects, such as those that commands made. */

import { join } from "node:path";
import type { SandboxPlan } from "../../core/sandbox.ts";
import { realTarget } from "../../disk/real-path.ts";
import { programFiles } from "../../git/program-files.ts";
import { protectionOf } from "../../permissions/sandbox/plan.ts";
import { repositoriesBelow } from "../../sandbox/new-repositories.ts";

/** Returns a function that lists those files that commands can write, absolute. `workspace`: real folders. */
export function programFilesIn(workspace: readonly string[], plan: () => SandboxPlan): () => string[] {
  const repositories = repositoriesBelow(workspace);
  return () => {
    const now = plan();
    const walls = new Set(now.readOnly);
    const open = repositories().filter((entry) => !walls.has(join(entry, "config")));
    return open.flatMap(programFiles).filter((path) => protectionOf(now, realOf(path)) === "writable");
  };
}

function realOf(path: string): string {
  try {
    return realTarget(path);
  } catch {
    return path;
  }
}
