/** Decides whether files may be read or written. Pure. */

import { deniedWrite } from "./always-denied.ts";
import type { PermissionDecision, PermissionQuery } from "./decision.ts";
import { byMode, byRule, isKnown, refused } from "./decision.ts";
import { holdsSecret, isRunElsewhere } from "./names.ts";
import { isInside } from "./paths.ts";
import { coversPath, type Rule } from "./rules.ts";
import { suggestPaths } from "./suggestions.ts";

export function decidePaths(
  query: PermissionQuery,
  kind: "read" | "write",
  paths: string[],
): PermissionDecision {
  for (const path of kind === "write" ? paths : []) {
    const why = deniedWrite(path, query);
    if (why) return refused(`${path}: ${why}`);
  }
  const covers = (rule: Rule, path: string): boolean =>
    ruleIsFor(rule, query.toolName, kind) && coversPath(rule, path, query.workspace, query.home);
  const denied = query.deny.find((rule) => paths.some((path) => covers(rule, path)));
  if (denied) return byRule("deny", denied);
  const allowing = paths.map((path) => query.allow.find((rule) => covers(rule, path)));
  const [allowed] = allowing;
  if (allowed && allowing.every(Boolean)) return byRule("allow", allowed);
  return kind === "read" ? readByMode(query, paths) : writeByMode(query, paths);
}

function ruleIsFor({ tool }: Rule, toolName: string, kind: "read" | "write"): boolean {
  return tool === toolName || tool === (kind === "read" ? "read" : "edit");
}

function readByMode(query: PermissionQuery, paths: string[]): PermissionDecision {
  const outside = paths.filter((path) => !isKnown(query, path));
  const secret = paths.filter(holdsSecret);
  if (outside.length + secret.length === 0)
    return byMode(query, "allow", "Reading inside the workspace needs no permission.");
  if (query.mode === "auto") return byMode(query, "allow", "Auto mode allows it.");
  if (outside.length === 0)
    return byMode(query, "ask", `${secret.join(", ")} holds secrets.`, suggestPaths("read", secret, query));
  const suggestion = suggestPaths("read", outside, query);
  return byMode(query, "ask", `${outside.join(", ")} is outside the workspace.`, suggestion);
}

function writeByMode(query: PermissionQuery, paths: string[]): PermissionDecision {
  const suggestion = suggestPaths("write", paths, query);
  const outside = paths.filter((path) => !query.workspace.some((folder) => isInside(path, folder)));
  switch (query.mode) {
    case "auto":
      return byMode(query, "allow", "Auto mode allows it.");
    case "plan":
      return byMode(query, "deny", "Plan mode writes no files.", suggestion);
    case "accept-edits":
      if (outside.length === 0) {
        const run = paths.filter((path) => runsElsewhere(query, path));
        if (run.length === 0) return byMode(query, "allow", "Edits inside the workspace need no permission.");
        return byMode(query, "ask", `Other programs run the content of ${run.join(", ")}.`, suggestion);
      }
      return byMode(query, "ask", `${outside.join(", ")} is outside the workspace.`, suggestion);
    case "ask":
      return byMode(query, "ask", `Writing ${paths.join(", ")} needs permission.`, suggestion);
  }
}

/** Returns true when other programs run this file. Only the path below the workspace is checked. */
function runsElsewhere({ workspace }: PermissionQuery, path: string): boolean {
  const root = workspace.find((folder) => isInside(path, folder)) ?? "/";
  return isRunElsewhere(path.slice(root === "/" ? 1 : root.length + 1));
}
