/** Moves away what commands leave behind and other programs would run, and tells it to each session in those folders. */

import { resolve } from "node:path";
import type { LogEvent } from "../../core/events.ts";
import type { EventLog } from "../../core/ports.ts";
import { allOf, changedFiles, findCall, lastOf } from "../../core/questions.ts";
import { editorCalls, toolNames } from "../../core/tool-calls.ts";
import { realTarget } from "../../disk/real-path.ts";
import { isInside } from "../../permissions/paths.ts";
import { isWatched } from "../../permissions/sandbox/protected-paths.ts";
import { openQuarantine, type Quarantine, type Quarantined } from "../../sandbox/quarantine.ts";
import { processorMs } from "../../sandbox/watch.ts";

/** A session and its sub-agents, which work in the same folders at the same time. */
export type Peers = Set<Peer>;

type Peer = {
  /** Returns true for a path that an allowed edit wrote below, or that was put back. */
  approves(path: string): boolean;
  /** Takes down what was moved, for the log and the model. */
  tell(moved: readonly Quarantined[]): void;
};

type Parts = {
  log: EventLog;
  /** Takes what is moved; absolute. */
  folder: string;
  /** Real folders; relative paths of the editor begin at the first. */
  workspace: readonly string[];
  /** Returns the names that are watched, absolute. */
  watched(): readonly string[];
  onMachine(path: string): string;
  peers: Peers;
};

/** Looks go on for this long after something in the sandbox has run, in milliseconds. */
const recentMs = 1000;
/** The least of the time that is left for other work, for each part of a processor's that looks without a command take. */
const rest = 200;

/** Begins the looks of a session: what exists now counts as the person's own. */
export function sessionLooks(parts: Parts) {
  const { log, peers } = parts;
  const told: string[] = [];
  const self: Peer = {
    approves: (path) => isApproved(approvals(log.events()), path) || isBeingWritten(parts, path),
    tell(moved) {
      for (const one of moved) log.append({ type: "quarantined", ...one });
      told.push(...moved.map(quarantineNote));
    },
  };
  peers.add(self);
  const quarantine: Quarantine = openQuarantine({
    ...{ folder: parts.folder, workspace: parts.workspace, watched: parts.watched, isWatched },
    isApproved: (path) => [...peers].some((peer) => peer.approves(path)),
  });
  let [activeAt, nextAt] = [Number.NEGATIVE_INFINITY, 0];
  const tellAll = (moved: readonly Quarantined[]): void => {
    for (const peer of peers) peer.tell(moved);
  };
  const lookAtAll = (): void => {
    const { moved, noted } = quarantine.look();
    tellAll(moved);
    if (noted.length > 0) log.append({ type: "runs_elsewhere", paths: noted });
  };
  return {
    opened: quarantine.begin,
    accept: quarantine.accept,
    look(during: boolean): void {
      activeAt = performance.now();
      if (during) tellAll(quarantine.lookAtGit());
      if (during || activeAt < nextAt) return;
      const before = processorMs();
      lookAtAll();
      nextAt = performance.now() + (processorMs() - before) * rest;
    },
    /** Looks at everything, and takes the lines for the model. */
    all(): string[] {
      lookAtAll();
      return told.splice(0);
    },
    /** Looks once more where something ran until now: what it left is not the person's. What was approved stays so. */
    end(): void {
      if (!peers.has(self)) return;
      if (performance.now() - activeAt < recentMs) lookAtAll();
      peers.delete(self);
      const approved = approvals(log.events());
      if (approved.wrote.length + approved.accepted.length > 0)
        peers.add({ approves: (path) => isApproved(approved, path), tell() {} });
    },
  };
}

/** Files that allowed edits wrote, and paths that were put back. */
type Approvals = { wrote: readonly string[]; accepted: readonly string[] };

function approvals(events: readonly LogEvent[]): Approvals {
  const accepted = allOf(events, "quarantined").flatMap((one) => (one.accepted ? [one.path] : []));
  return { wrote: changedFiles(events), accepted };
}

function isApproved({ wrote, accepted }: Approvals, path: string): boolean {
  return wrote.some((file) => isInside(file, path)) || accepted.includes(path);
}

/** Returns true where the last call is an allowed edit below `path` that has no result yet: a hook may take long over it. */
function isBeingWritten({ log, workspace, onMachine }: Parts, path: string): boolean {
  const events = log.events();
  const decided = lastOf(events, "permission_decided");
  if (decided?.decision !== "allow" || decided.seq < (lastOf(events, "tool_result")?.seq ?? -1)) return false;
  const call = findCall(events, decided.toolUseId);
  if (call?.name !== toolNames.editor) return false;
  const { kind, paths } = editorCalls.touches(call.input as Record<string, unknown>);
  const [root = "/"] = workspace;
  return kind === "writes" && isInside(realOf(onMachine(resolve(root, paths[0] ?? ""))), path);
}

function quarantineNote({ path, kept }: Quarantined): string {
  return `sandbox: ${path} appeared. Other programs would run it, so it was moved to ${kept}. Say so in your answer if the task needs it.`;
}

/** Returns a path with its links resolved, where they can be. */
export function realOf(path: string): string {
  try {
    return realTarget(path);
  } catch {
    return path;
  }
}
