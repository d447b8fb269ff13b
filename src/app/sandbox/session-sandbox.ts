/** The sandbox of a session: chosen once, found while the model thinks, opened with the first command. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PermissionMode } from "../../core/decision.ts";
import { UsageError } from "../../core/errors.ts";
import type { EventLog } from "../../core/ports.ts";
import { lastOf } from "../../core/questions.ts";
import {
  isFullSandbox,
  type Sandbox,
  type SandboxChoice,
  type SandboxPlan,
  type SandboxStatus,
} from "../../core/sandbox.ts";
import type { BoxNetwork } from "../../sandbox/inside.ts";
import { shellPlaces } from "../../tools/bash/shell/shell.ts";

export type SessionSandbox = {
  choice: SandboxChoice;
  /** Resolves once it is known which engine works here. */
  status(): Promise<SandboxStatus>;
  /** The same without asking: it is looked for behind the first request, or when a command needs it. */
  found: Promise<SandboxStatus>;
  /** Returns the plan of now, and whether every wall stands; undefined without an engine, and before it is known. */
  inForce(): { plan: SandboxPlan; full: boolean } | undefined;
  /** Returns the way into it, for the shell; undefined without an engine. */
  forShell(): Promise<Sandbox | undefined>;
  /**
   * Returns the way into one with the same walls, but for the folders that it may write too, and a network of its own;
   * undefined without an engine.
   */
  forServer(writable?: readonly string[]): Promise<Sandbox | undefined>;
  /** Resolves once it is known; never rejects. */
  settled(): Promise<unknown>;
  /** Sets who looks at what commands leave behind. */
  lookWith(looks: Looks): void;
  /** Returns where a path of the commands lies on the machine: their temporary files are the session's own. */
  onMachine(path: string): string;
  /** The folder of those files on the machine; undefined without a sandbox. */
  temporary(): string | undefined;
  /** Switches it off: the next command runs in a new shell on the machine. */
  switchOff(): void;
};

/** Looks at what commands leave behind. */
export type Looks = {
  /** Called when a sandbox was opened, before a command runs in it, with what lists the files that make git run programs. */
  opened(programFiles: () => readonly string[]): void;
  /** Called often while a command runs (`during`), and else after something in the sandbox has run. */
  look(during: boolean): void;
};

export type NetworkedSandbox = SessionSandbox & {
  /** Publishes a port of the sandbox on this machine. Rejects with why it cannot. */
  open(port: number): Promise<void>;
};

export type SandboxParts = {
  choice: SandboxChoice;
  log: EventLog;
  env: Readonly<Record<string, string | undefined>>;
  /** Real paths of the workspace. */
  workspace: readonly string[];
  home: string;
  /** Sawtooth's own folders: of configuration, of state, of sessions. */
  own: { config: string; state: string; sessions: string };
  /** Lists the session's own folder, and those of the sessions that it was branched from. */
  folders(): readonly string[];
  mode(): PermissionMode;
  /** Shows one line to the person. */
  warn(text: string): void;
  rules(): { allow: readonly string[]; deny: readonly string[] };
  /** Called once, when there is a sandbox to start ahead of the first command. */
  onFound(): void;
  /** Loads the network of the session. */
  network(): Promise<BoxNetwork & { isServed(): boolean }>;
  /** Loads a network for one server. */
  serverNetwork(): Promise<BoxNetwork>;
};

type Known = {
  status: SandboxStatus;
  sandbox: Sandbox | undefined;
  another?: (writable: readonly string[]) => Promise<Sandbox>;
};

const off: SandboxStatus = {
  ...{ engine: "none", files: false, hidden: false, processes: false, network: "open" },
  ...{ reason: "it is switched off", isOff: true },
};

/** Creates the sandbox of a session. Nothing is loaded or started before it is asked for. */
export function sessionSandbox(parts: SandboxParts): SessionSandbox {
  let looks: Looks | undefined;
  let known: Known | undefined;
  let finding: Promise<Known> | undefined;
  const told = Promise.withResolvers<SandboxStatus>();
  told.promise.catch(() => {});
  const find = (): Promise<Known> => {
    if (finding) return finding;
    finding = found(parts, () => looks).then((result) => {
      known ??= result;
      if (!known.sandbox) noteStatus(parts.log, known.status, []);
      return known;
    });
    finding.then(({ status }) => told.resolve(status), told.reject);
    return finding;
  };
  if (parts.choice === "off") told.resolve(off);
  else whileModelThinks(parts, find);
  return {
    choice: parts.choice,
    status: async () => (await find()).status,
    found: told.promise,
    inForce() {
      if (!known?.sandbox) return undefined;
      return { plan: known.sandbox.plan(), full: isFullSandbox(known.status) };
    },
    async forShell() {
      await find();
      return known?.sandbox;
    },
    async forServer(writable = []) {
      await find();
      return known?.another?.(writable);
    },
    settled: () => find().catch(() => {}),
    lookWith(given) {
      looks = given;
    },
    onMachine: (path) => known?.sandbox?.hostPath(path) ?? path,
    temporary: () => known?.sandbox && temporaryOf(parts),
    switchOff() {
      known = { status: off, sandbox: undefined };
      finding = Promise.resolve(known);
      noteStatus(parts.log, off, []);
    },
  };
}

/** Finds the engine behind the first request and starts the sandbox, so that neither a request nor a command waits. */
function whileModelThinks({ log, onFound }: SandboxParts, find: () => Promise<Known>): void {
  const ahead = () => find().then(({ sandbox }) => sandbox && onFound());
  const stop = log.subscribe(({ type }) => {
    if (type !== "model_request") return;
    stop();
    setTimeout(() => void ahead().catch(() => {}), 20).unref();
  });
}

async function found(parts: SandboxParts, looks: () => Looks | undefined): Promise<Known> {
  if (parts.choice === "off") return { status: off, sandbox: undefined };
  const { findEngine, forgetEngine } = await import("../../sandbox/engine.ts");
  const { env, workspace, own, choice } = parts;
  const cache = join(own.state, "sandbox.json");
  const engine = await findEngine({ env, writable: workspace, cache });
  const { status } = engine;
  if (choice === "on" && !isFullSandbox(status)) throw new UsageError(cannotStart(status));
  if (!("name" in engine)) return { status, sandbox: undefined };
  const { sandboxOf } = await import("../../sandbox/inside.ts");
  const { programFilesIn } = await import("./open-repositories.ts");
  const { pathsNamedIn } = await import("../../git/named-paths.ts");
  const { home, mode, rules, log, warn } = parts;
  const network = engine.name === "landlock" ? undefined : await parts.network();
  const known: Known = { status: network ? { ...status, network: "names" } : status, sandbox: undefined };
  const walls = {
    ...{ engine, env, workspace, home, mode, rules, warn, main: process.argv[1], namedByGit: pathsNamedIn },
    ...{ own: Object.values(own), places: placesOf(parts), onFailed: () => forgetEngine(cache) },
  };
  known.another = async (writable) => {
    const network = engine.name === "landlock" ? undefined : await parts.serverNetwork();
    const places = withoutShell(parts);
    const wider = { ...places, writable: [...places.writable, ...writable] };
    return sandboxOf({ ...walls, places: wider, network, onPlan() {} });
  };
  const sandbox = sandboxOf({
    ...walls,
    network,
    onLook: (during) => looks()?.look(during),
    onPlan({ writable }, hides) {
      known.status = network
        ? { ...status, network: network.isServed() ? "names" : "off" }
        : { ...status, hidden: hides };
      noteStatus(log, known.status, writable);
      looks()?.opened(programs);
    },
  });
  const programs = programFilesIn(workspace, sandbox.plan);
  known.sandbox = sandbox;
  return known;
}

function cannotStart({ reason }: SandboxStatus): string {
  return `sandbox: on, but no engine with every wall works here: ${reason ?? "the reason is unknown"}; --sandbox auto takes what there is`;
}

function placesOf({ folders, own, workspace }: SandboxParts) {
  const all = folders();
  const [folder = ""] = all;
  const shell = shellPlaces(folder);
  const project = createHash("sha256")
    .update(workspace[0] ?? "")
    .digest("hex")
    .slice(0, 16);
  return {
    readable: [
      shell.in,
      ...[
        ...all.flatMap((one) => [join(one, "artifacts"), join(one, "mcp")]),
        join(own.config, "plugins"),
      ].filter(existsSync),
    ],
    writable: [shell.state, shell.outFolder],
    temp: temporaryOf({ folders }),
    caches: join(own.state, "caches", project),
    copies: join(shell.folder, "copies"),
  };
}

/** Returns the places without those of the shell: a server could speak through them for a command, or change its state. */
function withoutShell(parts: SandboxParts): ReturnType<typeof placesOf> {
  const places = placesOf(parts);
  const shell = shellPlaces(parts.folders()[0] ?? "");
  return { ...places, readable: places.readable.filter((one) => one !== shell.in), writable: [] };
}

/** Returns the folder that stands in for those of temporary files. */
function temporaryOf({ folders }: Pick<SandboxParts, "folders">): string {
  return join(folders()[0] ?? "", "temp");
}

/** Records the sandbox where it is another than before. */
function noteStatus(log: EventLog, status: SandboxStatus, writable: readonly string[]): void {
  const before = lastOf(log.events(), "sandbox");
  const now = { status, writable: [...writable] };
  if (before && JSON.stringify({ status: before.status, writable: before.writable }) === JSON.stringify(now))
    return;
  log.append({ type: "sandbox", ...now });
}
