/** May these files be read or written? Pure. */

import { deniedWrite } from "./always-denied.ts";
import type { PermissionDecision, PermissionQuery } from "./decide.ts";
import { byMode, byRule, isKnown, refused } from "./decision.ts";
import { holdsSecret, isRunElsewhere } from "./names.ts";
import { isInside } from "./paths.ts";
import { coversPath, type Rule } from "./rules.ts";
import { suggestPaths } from "./suggestions.ts";

export function decidePaths(
  one: PermissionQuery,
  kind: "read" | "write",
  paths: string[],
): PermissionDecision {
  for (const path of kind === "write" ? paths : []) {
    const why = deniedWrite(path, one);
    if (why) return refused(`${path}: ${why}`);
  }
  const covers = (rule: Rule, path: string): boolean =>
    ruleIsFor(rule, one.toolName, kind) && coversPath(rule, path, one.workspace, one.home);
  const denied = one.deny.find((rule) => paths.some((path) => covers(rule, path)));
  if (denied) return byRule("deny", denied);
  const allowing = paths.map((path) => one.allow.find((rule) => covers(rule, path)));
  const [allowed] = allowing;
  if (allowed && allowing.every(Boolean)) return byRule("allow", allowed);
  return kind === "read" ? readByMode(one, paths) : writeByMode(one, paths);
}

function ruleIsFor({ tool }: Rule, toolName: string, kind: "read" | "write"): boolean {
  return tool === toolName || tool === (kind === "read" ? "read" : "edit");
}

function readByMode(one: PermissionQuery, paths: string[]): PermissionDecision {
  const outside = paths.filter((path) => !isKnown(one, path));
  const secret = paths.filter(holdsSecret);
  if (outside.length + secret.length === 0)
    return byMode(one, "allow", "Reading inside the workspace is free.");
  if (one.mode === "auto") return byMode(one, "allow", "The mode auto allows it.");
  if (outside.length === 0)
    return byMode(one, "ask", `${secret.join(", ")} holds secrets.`, suggestPaths("read", secret, one));
  const suggestion = suggestPaths("read", outside, one);
  return byMode(one, "ask", `${outside.join(", ")} is outside the workspace.`, suggestion);
}

function writeByMode(one: PermissionQuery, paths: string[]): PermissionDecision {
  const suggestion = suggestPaths("write", paths, one);
  const outside = paths.filter((path) => !one.workspace.some((folder) => isInside(path, folder)));
  switch (one.mode) {
    case "auto":
      return byMode(one, "allow", "The mode auto allows it.");
    case "plan":
      return byMode(one, "deny", "The mode plan writes nothing.", suggestion);
    case "accept-edits":
      if (outside.length === 0) {
        const run = paths.filter((path) => runsElsewhere(one, path));
        if (run.length === 0) return byMode(one, "allow", "Edits inside the workspace are free.");
        return byMode(one, "ask", `Other programs run what is in ${run.join(", ")}.`, suggestion);
      }
      return byMode(one, "ask", `${outside.join(", ")} is outside the workspace.`, suggestion);
    case "ask":
      return byMode(one, "ask", `Writing ${paths.join(", ")} needs permission.`, suggestion);
  }
}

/** Looked at below the workspace: where that lies says nothing. */
function runsElsewhere({ workspace }: PermissionQuery, path: string): boolean {
  const root = workspace.find((folder) => isInside(path, folder)) ?? "/";
  return isRunElsewhere(path.slice(root === "/" ? 1 : root.length + 1));
}
