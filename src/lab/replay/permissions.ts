/** The calls of a recording judged by the permissions of today: how often would a person have been asked? Pure. */

import { isToolUse } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import type { Access } from "../../core/ports.ts";
import { started } from "../../core/questions.ts";
import { toolNames, touchesOf } from "../../core/tool-calls.ts";
import { decidePermission } from "../../permissions/decide.ts";
import type { PermissionDecision, PermissionInput } from "../../permissions/decision.ts";

export type RecordedCall = {
  toolUseId: string;
  toolName: string;
  access: Access;
};

/** Rules and places by which calls are judged; the workspace is the recording's folder. */
export type ReplayRules = Omit<PermissionInput, "toolName" | "access" | "workspace">;

export type PermissionCounts = {
  calls: number;
  commands: number;
  allowed: number;
  asked: number;
  denied: number;
};

/** Where nothing else is recorded: the folder of SWE-bench tasks. */
const usualFolder = "/testbed";

/** The folder in which the recorded agent worked. Absolute. */
function recordedFolder(events: readonly LogEvent[]): string {
  return started(events)?.cwd || usualFolder;
}

/** Shell commands and the reading and writing of files; calls of other tools ask nobody anything here. */
export function recordedCalls(events: readonly LogEvent[]): RecordedCall[] {
  const cwd = recordedFolder(events);
  const uses = events.flatMap((event) =>
    event.type === "assistant_message" ? event.content.filter(isToolUse) : [],
  );
  return uses.flatMap(({ id, name, input }) => {
    const access = accessOf(name, input, cwd);
    return access ? [{ toolUseId: id, toolName: name, access }] : [];
  });
}

function accessOf(name: string, input: unknown, cwd: string): Access | undefined {
  const { command } = input as Record<string, unknown>;
  if (typeof command !== "string") return undefined;
  if (name === toolNames.bash) return { kind: "execute", command };
  const { kind, paths } = touchesOf({ name, input });
  if (paths.length === 0) return undefined;
  const absolute = paths.map((path) => (path.startsWith("/") ? path : `${cwd}/${path}`));
  return { kind: kind === "reads" ? "read" : "write", paths: absolute };
}

/** One decision a call, as if each call came first: nothing is remembered. */
export function judgeCalls(
  events: readonly LogEvent[],
  rules: ReplayRules,
): (RecordedCall & { decided: PermissionDecision })[] {
  const workspace = [recordedFolder(events)];
  return recordedCalls(events).map((call) => ({
    ...call,
    decided: decidePermission({ ...rules, ...call, workspace }),
  }));
}

export function countDecisions(
  judged: readonly (RecordedCall & { decided: PermissionDecision })[],
): PermissionCounts {
  const of = (decision: PermissionDecision["decision"]): number =>
    judged.filter(({ decided }) => decided.decision === decision).length;
  return {
    calls: judged.length,
    commands: judged.filter(({ access }) => access.kind === "execute").length,
    allowed: of("allow"),
    asked: of("ask"),
    denied: of("deny"),
  };
}
