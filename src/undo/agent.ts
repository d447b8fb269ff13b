/** Takes snapshots for a running agent: before a call that may write, and after each turn. */

import { join } from "node:path";
import { isToolUse } from "../core/blocks.ts";
import type { Access, Clock, EventLog } from "../core/ports.ts";
import { lastOf } from "../core/questions.ts";
import type { ParseShell } from "../core/shell-tree.ts";
import { toolNames } from "../core/tool-calls.ts";
import type { Snapshots } from "../core/undo-port.ts";
import type { SnapshotOptions } from "./snapshots.ts";

type UndoScope = {
  log: EventLog;
  /** The session's folder. */
  folder: string;
  /** Folders to snapshot; absolute, links resolved. */
  workspace: readonly string[];
  /** Absolute folders to leave out, though they may lie in the workspace. */
  except: readonly string[];
  clock: Clock;
  warn(text: string): void;
  /** The grammar of bash, to recognise commands that only read. */
  parser(access: Access): Promise<ParseShell | undefined>;
};

export type AgentSnapshots = {
  snapshots: Snapshots;
  /** For `Agent.beforeWrite`. Never throws. */
  beforeWrite(access: Access): Promise<void>;
};

/** Starts watching the session's log; `Snapshots.close` stops it. */
export function agentSnapshots(scope: UndoScope): AgentSnapshots {
  const { log, folder, workspace, except, clock, warn, parser } = scope;
  const snapshots = lazySnapshots({
    folder: join(folder, "snapshots"),
    roots: workspace,
    ...{ except, clock, warn },
  });
  let prepared = false;
  const unsubscribe = log.subscribe((event) => {
    if (event.type === "turn_ended") void snapshots.settle();
    // A session that uses tools will write, and until then reading ahead costs nobody any time.
    if (prepared || event.type !== "assistant_message" || !event.content.some(isToolUse)) return;
    prepared = true;
    snapshots.prepare();
  });
  return {
    snapshots: {
      ...snapshots,
      close() {
        unsubscribe();
        return snapshots.close();
      },
    },
    async beforeWrite(access) {
      if (!(await mayWrite(access, parser))) return;
      const events = log.events();
      await snapshots.take({
        turn: lastOf(events, "user_message")?.seq ?? 0,
        step: lastOf(events, "assistant_message")?.seq ?? 0,
        label: labelOf(access),
        named: access.kind === "write" ? access.paths : [],
      });
    },
  };
}

/** Snapshots that are loaded and opened with their first use: most sessions begin by reading. */
function lazySnapshots(options: SnapshotOptions): Snapshots {
  let opened: Promise<Snapshots> | undefined;
  let closed = false;
  const open = (): Promise<Snapshots> => {
    opened ??= import("./snapshots.ts").then(({ openSnapshots }) => openSnapshots(options));
    return opened;
  };
  return {
    prepare: () => void open().then((snapshots) => snapshots.prepare()),
    take: async (moment) => (closed ? undefined : (await open()).take(moment)),
    settle: async () => (await opened)?.settle(),
    list: async () => (await open()).list(),
    undo: async (choice) => (await open()).undo(choice),
    async close() {
      closed = true;
      await (await opened)?.close();
    },
  };
}

/** Returns false for a call that the mode `plan` would let through, which only reads. */
async function mayWrite(access: Access, parser: UndoScope["parser"]): Promise<boolean> {
  if (access.kind === "read" || access.kind === "session" || access.kind === "fetch") return false;
  if (access.kind === "write") return true;
  if (access.kind === "delegate") return access.writes;
  if (access.kind === "remote" || access.kind === "program") return !access.readOnly;
  const { decidePermission } = await import("../permissions/decide.ts");
  const parse = await parser(access);
  const anywhere = { workspace: ["/"], home: "/", protectedPaths: [], cwd: "/" };
  const about = { toolName: toolNames.bash, mode: "plan" as const, allow: [], deny: [], access, parse };
  return decidePermission({ ...about, ...anywhere }).decision !== "allow";
}

/** Returns one line, short enough for a list. */
function labelOf(access: Access): string {
  switch (access.kind) {
    case "execute":
      return access.command.replaceAll(/\s+/g, " ").trim().slice(0, 200).toWellFormed();
    case "write":
      return `edit ${access.paths.join(", ")}`;
    case "remote":
      return `mcp ${access.server}/${access.tool}`.slice(0, 200).toWellFormed();
    case "program":
      return "a tool of the program";
    case "delegate":
      return "a sub-agent";
    case "read":
    case "session":
    case "fetch":
      return access.kind;
  }
}
