/** Joins the bash tool and the sandbox: commands that leave it, and what is told after one that ran inside. */

import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LogEvent } from "../../core/events.ts";
import { egressText } from "../../core/network/egress.ts";
import type { EventLog } from "../../core/ports.ts";
import type { SandboxPlan } from "../../core/sandbox.ts";
import { inQuarantine } from "../../permissions/sandbox/watched.ts";
import { gitSettingsLook } from "../../sandbox/git-settings.ts";
import type { CommandSandbox } from "../../tools/bash/call.ts";
import { type OutsideShell, outsideShell } from "../../tools/bash/outside.ts";
import { type Shell, shellPlaces } from "../../tools/bash/shell/shell.ts";
import { type Peers, realOf, sessionLooks } from "./looks.ts";
import type { Looks } from "./session-sandbox.ts";

type Parts = {
  /** The shell inside. */
  shell: Shell;
  log: EventLog;
  sessionId: string;
  /** The session's own folder. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Real folders; the first is where the agent works. */
  workspace: readonly string[];
  home: string;
  /** Those of the session that delegated, for a sub-agent. */
  peers: Peers | undefined;
  sandbox: {
    inForce(): { plan: SandboxPlan } | undefined;
    onMachine(path: string): string;
    lookWith(looks: Looks): void;
  };
};

export type SessionCommands = {
  /** The shell inside, whose end is also that of commands outside. */
  shell: Shell;
  /** For the bash tool. */
  commands: CommandSandbox;
  /** Puts everything in quarantine back, and lists what could not be. */
  acceptQuarantined(): { accepted: string[]; problems: string[] };
  /** The session and its sub-agents, for them. */
  peers: Peers;
  /** Lists what the sandbox denied lately, files and connections, the newest last. */
  denials(): string[];
};

/** More than this are not kept. */
const mostDenials = 8;

/** Creates both sides. Nothing is loaded before a command ran in a sandbox. */
export function commandSandbox(parts: Parts): SessionCommands {
  const { shell, log, sessionId, folder, env, workspace, home, sandbox } = parts;
  const peers: Peers = parts.peers ?? new Set();
  const [root = "/"] = workspace;
  const plan = () => sandbox.inForce()?.plan;
  const outside = outsideShell({
    ...{ env, sessionId, stateFolder: folder, workspace: root },
    writable: () => [...workspace, ...(plan()?.writable ?? [])],
    hostPath: sandbox.onMachine,
  });
  const machine = {
    realPath: (path: string) => realOf(sandbox.onMachine(path)),
    exists: existsSync,
    mayWrite,
  };
  /** Denials of files, with the number of events before each. */
  const denied: { seq: number; text: string }[] = [];
  const looks = sessionLooks({
    ...{ log, workspace, peers, onMachine: sandbox.onMachine, folder: join(folder, "quarantine") },
    watched: () => plan()?.watched ?? [],
  });
  sandbox.lookWith(looks);
  const gitSettingsWritten = gitSettingsLook(shellPlaces(folder).state);
  return {
    shell: endingWith(shell, outside, looks.end),
    commands: {
      isOn: () => plan() !== undefined,
      outside,
      async after(ended) {
        const now = plan();
        if (!now) return [];
        const moved = looks.all();
        const { denialNotes } = await import("../../permissions/sandbox/denials.ts");
        const notes = denialNotes(ended, { plan: now, workspace, home, machine });
        denied.push(...notes.map((text) => ({ seq: log.events().length, text })));
        denied.splice(0, denied.length - mostDenials);
        return [...moved, ...notes, ...(gitSettingsWritten() ? [gitSettingsNote] : [])];
      },
    },
    peers,
    denials: () => lastDenials(log.events(), denied),
    acceptQuarantined() {
      const results = inQuarantine(log.events()).map((one) => {
        const problem = looks.accept(one);
        if (problem === undefined)
          log.append({ type: "quarantined", path: one.path, kept: one.kept, accepted: true });
        return { path: one.path, problem };
      });
      return {
        accepted: results.flatMap(({ path, problem }) => (problem === undefined ? [path] : [])),
        problems: results.flatMap(({ problem }) => problem ?? []),
      };
    },
  };
}

function lastDenials(events: readonly LogEvent[], files: readonly { seq: number; text: string }[]): string[] {
  const connections = events.flatMap((event) =>
    event.type === "egress" && event.decision !== "allow"
      ? [{ seq: event.seq, text: egressText(event) }]
      : [],
  );
  return [...files, ...connections]
    .sort((a, b) => a.seq - b.seq)
    .slice(-mostDenials)
    .map(({ text }) => text.replace(/^sandbox: /, ""));
}

function endingWith(shell: Shell, outside: OutsideShell, end: () => void): Shell {
  return {
    ...shell,
    async close() {
      await Promise.all([outside.close(), shell.close()]);
      end();
    },
    killAll() {
      outside.killAll();
      shell.killAll();
      end();
    },
  };
}

const gitSettingsNote =
  "sandbox: git config --global wrote a file of this session, which commands in here read; ~/.gitconfig of the person stays as it is.";

/** Asks the machine itself about a path, or about the nearest folder above it that exists. */
function mayWrite(path: string): boolean {
  if (!existsSync(path) && dirname(path) !== path) return mayWrite(dirname(path));
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
