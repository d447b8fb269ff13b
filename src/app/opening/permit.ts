/** Gathers what permissions decide on, and decides about the calls of a session. Loaded with the first call. */

import { dirname } from "node:path";
import type { Agent } from "../../agent/agent.ts";
import { folders } from "../../config/folders.ts";
import { realTarget } from "../../disk/real-path.ts";
import { programsInGit, trackedFiles } from "../../git/configured-programs.ts";
import type { OpenSession } from "../../session/store.ts";
import { namesMatching, surveyFolder } from "../../tools/bash/look-ahead.ts";
import { permitDelegate, permitRole } from "../delegate/permit.ts";
import { askNotifying, permitHooked } from "../hooks.ts";
import { permitChanged } from "../mcp/permit-changed.ts";
import { shellServers } from "../mcp/shell-calls.ts";
import { permitAsking, permitHeadless, refusing } from "../permissions.ts";
import { notesOnLeaving } from "../sandbox/leaving.ts";
import type { AgentParts } from "./agent-parts.ts";
import { readableFolders, realHome, workspaceOf } from "./folders.ts";

/**
 * Returns `Agent.permit`: by the rules and the mode in force at each call, and by the person or the driver where there
 * is one; the person's hooks are heard first.
 */
export function permitOf(session: OpenSession, parts: AgentParts): Agent["permit"] {
  const { person, driver, refuse } = parts.options;
  const { standing, questions, servers, hooks } = parts;
  const rules = rulesOf(session, parts);
  const ask = person && askNotifying(person.ask, hooks);
  const permit = ask ? permitAsking(rules, ask, standing, questions) : permitHeadless(rules, driver?.settle);
  const refused = refusing(permit, refuse && ((access) => refuse(access, session.folder)));
  const hooked = permitHooked(permitChanged(refused, servers, ask), hooks, ask);
  const { delegate } = parts.options;
  if (!delegate) return hooked;
  const { delegated } = delegate;
  return permitDelegate(permitRole(hooked, delegated, rules), delegated.writes);
}

/** Returns a function that gives the rules as they are at a call. */
function rulesOf(session: OpenSession, parts: AgentParts) {
  const { options, cwd, mode, shell, sandbox, fileSnapshots, standing } = parts;
  const { env, person, driver } = options;
  const paths = folders(env);
  const own = readableFolders(session);
  const [workspace, home] = [workspaceOf(cwd, options), realHome(env)];
  return () => ({
    ...{ standing, programsInGit, tracked: trackedFiles, servers: shellServers(parts.servers) },
    leaving: notesOnLeaving(session, fileSnapshots, workspace),
    realPath: (path: string) => realTarget(sandbox.onMachine(path)),
    matches: namesMatching,
    survey: surveyFolder,
    mode: (person ?? driver)?.mode?.() ?? mode,
    allow: standing.allow(),
    allowEverywhere: standing.allowEverywhere(),
    deny: standing.deny(),
    ...{ workspace, home },
    sandbox: sandbox.inForce(),
    temporary: sandbox.temporary(),
    readable: [...own, ...parts.skills.inUse().map(({ path }) => dirname(path))],
    protectedPaths: [paths.config, paths.state],
    cwd: shell.cwd(),
    settled: sandbox.settled,
  });
}
