/** Decides whether a call may run, from the mode, the user's rules and the hard refusals. Pure. */

import { decideCommand } from "./commands.ts";
import {
  byMode,
  byRule,
  type PermissionDecision,
  type PermissionInput,
  type PermissionQuery,
} from "./decision.ts";
import { decideDelegate } from "./delegate.ts";
import { decideFetch } from "./fetch.ts";
import { decidePaths } from "./files.ts";
import { parseRule } from "./parse-rule.ts";
import { resolvePath } from "./paths.ts";
import { decideProgram } from "./program.ts";
import { decideRemote, withServerCalls } from "./remote.ts";

export type { PermissionMode } from "../core/decision.ts";
export { parseRule } from "./parse-rule.ts";

/** Decides a call: hard refusals beat deny rules, which beat allow rules, which beat the mode. */
export function decidePermission(input: PermissionInput): PermissionDecision {
  const { access, workspace } = input;
  const general = (input.allowEverywhere ?? []).map(parseRule);
  const { temporary } = input;
  const query: PermissionQuery = {
    ...input,
    workspace: temporary === undefined ? workspace : [...workspace, temporary],
    allow: [...input.allow.map(parseRule), ...general],
    general,
    realPath: safely(input.realPath),
    programsInGit: memoized(input.programsInGit),
    matches: memoized(input.matches),
    survey: memoized(input.survey),
    deny: input.deny.map(parseRule),
    home: resolvePath("/", input.home),
    readable: input.readable ?? [],
    cwd: input.cwd ?? workspace[0] ?? "/",
  };
  switch (access.kind) {
    case "read":
    case "write":
      return decidePaths(query, access.kind, access.paths);
    case "execute":
      return withServerCalls(query, access, decideCommand(query, access));
    case "fetch":
      return decideFetch(query, access);
    case "remote":
      return decideRemote(query, access);
    case "delegate":
      return decideDelegate(query, access);
    case "program":
      return decideProgram(query, access);
    case "session": {
      const denied = query.deny.find((rule) => rule.tool === query.toolName);
      return denied
        ? byRule("deny", denied)
        : byMode(query, "allow", "It only touches the session's own state.");
    }
  }
}

/** Remembers an answer, which reads files, for the length of one decision. */
function memoized<Answer>(
  ask: ((about: string) => Answer) | undefined,
): ((about: string) => Answer) | undefined {
  if (!ask) return undefined;
  const answers = new Map<string, { answer: Answer }>();
  return (about) => {
    const known = answers.get(about) ?? { answer: ask(about) };
    answers.set(about, known);
    return known.answer;
  };
}

/** Leaves a path as written when it leads nowhere, in a circle, or cannot be read. */
function safely(realPath: PermissionInput["realPath"]): (path: string) => string {
  return (path) => {
    try {
      return realPath?.(path) ?? path;
    } catch {
      return path;
    }
  };
}
