/** Decides whether files may be read or written. Pure. */

import { deniedWrite } from "./always-denied.ts";
import type { PermissionDecision, PermissionQuery } from "./decision.ts";
import { byMode, byRule, isKnown, refused } from "./decision.ts";
import { holdsSecret, isRunElsewhere } from "./names.ts";
import type { Rule } from "./parse-rule.ts";
import { isInside } from "./paths.ts";
import { coversPath } from "./rules.ts";
import { protectionOf } from "./sandbox/plan.ts";
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
  const closed = closedBySandbox(query, kind, paths);
  if (closed) return refused(closed);
  const allowing = paths.map((path) => query.allow.find((rule) => covers(rule, path)));
  const [allowed] = allowing;
  if (allowed && allowing.every(Boolean)) return byRule("allow", allowed);
  return kind === "read" ? readByMode(query, paths) : writeByMode(query, paths);
}

/** Returns why the plan of the sandbox refuses a path: what the kernel refuses to commands the editor refuses too. */
function closedBySandbox(
  query: PermissionQuery,
  kind: "read" | "write",
  paths: string[],
): string | undefined {
  const plan = query.sandbox?.plan;
  if (!plan) return undefined;
  for (const path of paths) {
    const protection = protectionOf(plan, path);
    const own = query.readable.some((folder) => isInside(path, folder));
    const why = own ? undefined : protection === "hidden" ? "is hidden from this session" : undefined;
    const written = kind === "write" && protection === "readOnly" && !runsElsewhere(query, path);
    if (why ?? written) return `${path} ${why ?? "is read-only in this session"}`;
  }
  return undefined;
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
  if (query.sandbox?.full && query.mode !== "ask" && secret.length === 0)
    return byMode(query, "allow", "What commands in the sandbox can read needs no permission.");
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
