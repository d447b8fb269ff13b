/** Finds the engine that works on this machine, and remembers that it did. */

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { SandboxPlan, SandboxStatus } from "../core/sandbox.ts";
import { realTarget } from "../disk/real-path.ts";
import { isInside } from "../permissions/paths.ts";
import { startBox } from "./box.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import { kindOf } from "./found.ts";
import { type Landlock, landlockStatus, probeLandlock } from "./landlock.ts";
import { seccompFilter } from "./seccomp.ts";

/** An engine that can be started. */
export type Engine = Bubblewrap | { name: "landlock"; status: SandboxStatus; landlock: Landlock };

export type Bubblewrap = {
  name: "namespaces";
  status: SandboxStatus;
  /** Absolute path of bubblewrap. */
  program: string;
  forbidsNamespaces: boolean;
  filter: Uint8Array | undefined;
};

export type EngineQuestion = {
  env: Readonly<Record<string, string | undefined>>;
  /** Roots that commands may write, from which no program is taken. */
  writable: readonly string[];
  /** File that remembers what worked since the machine was started. */
  cache: string;
  /** Folders that only the administrator can write, searched first; those of the machine by default. */
  system?: readonly string[];
};

/** Folders of the system, which only its administrator can write, in the order in which they are searched. */
const systemFolders = [
  "/usr/bin",
  "/bin",
  "/usr/local/bin",
  "/usr/sbin",
  "/sbin",
  "/run/current-system/sw/bin",
];
const noWalls = { files: false, hidden: false, processes: false, network: "open" } as const;
const allWalls = { files: true, hidden: true, processes: true, network: "off" } as const;
/** The first version with --as-pid-1 and --die-with-parent, and the first with --disable-userns. */
const [oldest, forbidding] = ["0.1.8", "0.8.0"];

/**
 * Returns the best engine that works here, or the status that says why there is none. `landlockOf`: finds Landlock; by
 * default that of this machine.
 */
export async function findEngine(
  question: EngineQuestion,
  landlockOf: typeof probeLandlock = probeLandlock,
): Promise<Engine | { status: SandboxStatus }> {
  const none = (reason: string) => ({ status: { engine: "none" as const, ...noWalls, reason } });
  if (process.platform !== "linux") return none(`there is none for ${process.platform} yet`);
  const best = await findBubblewrap(question);
  if (!("reason" in best)) return best;
  const landlock = await landlockOf();
  if ("reason" in landlock) return none(`${best.reason}; ${landlock.reason}`);
  return { name: "landlock", status: { ...landlockStatus(landlock), reason: best.reason }, landlock };
}

async function findBubblewrap(question: EngineQuestion): Promise<Bubblewrap | { reason: string }> {
  const program = programIn(question);
  if (program === undefined) return { reason: "bubblewrap is not installed (apt-get install bubblewrap)" };
  const key = cacheKey(program);
  const known = remembered(question.cache, key);
  if (known !== undefined) return engineOf(program, known);
  try {
    const version = await versionOf(program);
    if (isOlder(version, oldest))
      return { reason: `bubblewrap ${version} is too old, ${oldest} or newer is needed` };
    const engine = engineOf(program, version);
    await probe(engine);
    remember(question.cache, key, version);
    return engine;
  } catch (error) {
    return { reason: (error as Error).message.replace(/^bwrap: /, "bubblewrap cannot start here: ") };
  }
}

/** Looks for bubblewrap: never below what commands may write, nor by a relative entry of PATH. */
function programIn({ env, writable, system = systemFolders }: EngineQuestion): string | undefined {
  const others = (env.PATH ?? "").split(":").filter(isAbsolute);
  for (const folder of [...system, ...others]) {
    const path = join(folder, "bwrap");
    if (kindOf(path) !== "file" || !isExecutable(path)) continue;
    const real = realTarget(path);
    if (![path, real].some((one) => writable.some((root) => isInside(one, root)))) return real;
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  return (statSync(path).mode & 0o111) !== 0;
}

function engineOf(program: string, version: string): Bubblewrap {
  return {
    name: "namespaces",
    status: { engine: "namespaces", version, ...allWalls },
    program,
    forbidsNamespaces: !isOlder(version, forbidding),
    filter: seccompFilter(process.arch),
  };
}

function versionOf(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, ["--version"], { env: {}, timeout: 5000 }, (error, stdout) => {
      const version = /(\d+(?:\.\d+)+)/.exec(stdout)?.[1];
      if (version !== undefined) resolve(version);
      else
        reject(
          new Error(`${program} --version does not tell a version${error ? ` (${error.message})` : ""}`),
        );
    });
  });
}

function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split(".").map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (one?.[at] ?? 0) - (other?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const emptyPlan: SandboxPlan = {
  ...{
    writable: [],
    readOnly: [],
    pinned: [],
    hidden: [],
    withoutTokens: [],
    watched: [],
    hosts: [],
    ports: [],
  },
  ...{ devices: [], sockets: { mask: [], pass: [] }, environment: { pass: [], drop: [] }, why: {} },
};

/** Starts and ends a sandbox around nothing. Throws with what bubblewrap said. */
async function probe({ program, forbidsNamespaces, filter }: Bubblewrap): Promise<void> {
  const setup = {
    ...{
      kind: kindOf,
      temp: "/tmp",
      temps: [],
      emptied: ["/run"],
      shown: [],
      copies: {},
      terminal: undefined,
    },
    ...{ forbidsNamespaces, network: "off" as const, hasFilter: filter !== undefined },
  };
  const path = process.env.PATH ?? "/usr/bin:/bin";
  const box = await startBox({
    ...{ program, arguments: bubblewrapArguments(emptyPlan, setup), env: { PATH: path } },
    ...{ filter, terminal: undefined, hasOwnPids: true },
  });
  box.kill();
}

/** Settings of the kernel that allow namespaces, and the start of the machine. */
const kernelFiles = [
  "kernel/random/boot_id",
  "user/max_user_namespaces",
  "kernel/unprivileged_userns_clone",
  "kernel/apparmor_restrict_unprivileged_userns",
];

/** Changes with the program, the machine's start and settings, the container and the user. */
function cacheKey(program: string): string {
  const { mtimeMs, size } = statSync(program);
  const settings = kernelFiles.map((name) => orEmpty(() => readFileSync(`/proc/sys/${name}`, "utf8").trim()));
  const places = ["user", "mnt"].map((name) => orEmpty(() => readlinkSync(`/proc/self/ns/${name}`)));
  return [program, mtimeMs, size, process.getuid?.(), ...settings, ...places].join(" ");
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** Forgets what worked: it does not any more. */
export function forgetEngine(cache: string): void {
  rmSync(cache, { force: true });
}

function remembered(file: string, key: string): string | undefined {
  try {
    const known = JSON.parse(readFileSync(file, "utf8")) as { key?: unknown; version?: unknown };
    return known.key === key && typeof known.version === "string" ? known.version : undefined;
  } catch {
    return undefined;
  }
}

/** Only what worked is remembered: what did not may be mended at any time. */
function remember(file: string, key: string, version: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify({ key, version })}\n`, { mode: 0o600 });
  } catch {
    // It is only slower without.
  }
}
