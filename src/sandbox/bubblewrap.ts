/** The arguments of bubblewrap for a plan. Pure. */

import type { SandboxPlan } from "../core/sandbox.ts";
import { isInside } from "../permissions/paths.ts";
import type { Closing } from "./mount-inside.ts";

/** The path inside of the terminal of a session. */
export const terminalInside = "/dev/sawtooth-tty";
/** The folder of devices, of which bubblewrap makes a new one: nothing of the machine's is left in it. */
export const devices = "/dev";
/** Descriptors of bubblewrap: where it reports its child, where it reads the filter, and where its guard listens. */
export const descriptors = { info: 3, filter: 4, guard: 5 };

/**
 * A shell that becomes bubblewrap, after it started a guard for the time of the start. When we die then, bubblewrap may
 * be ended between making the first process and letting it go on: that one waits for ever, and is deaf to SIGTERM. The
 * guard gets a word when the sandbox is ready, or reads to the end, and ends its process group, which has that process.
 */
export const guarded = [
  "/bin/sh",
  "-c",
  `(exec <&${descriptors.guard} >&- 2>&- ${descriptors.info}>&- ${descriptors.filter}<&- ${descriptors.guard}<&-; ` +
    `read -r word || kill -9 0) & exec ${descriptors.guard}<&-; exec "$@"`,
  "sawtooth-guard",
];

/** Facts that the arguments need besides the plan. All paths are absolute and real. */
export type BubblewrapSetup = {
  kind(path: string): "file" | "folder" | undefined;
  /** Folder of the session that stands in for each of `temps`. */
  temp: string;
  /** Folders for temporary files. */
  temps: readonly string[];
  /** Folders that are empty inside. */
  emptied: readonly string[];
  /** Paths that stay visible although they lie in one of those: of programs, the home. */
  shown: readonly string[];
  /** Copies of settings files without their tokens, by the path where they are shown. */
  copies: Readonly<Record<string, string>>;
  /** Files of ours that are shown in place of the machine's, by the path where they are shown. */
  files?: Readonly<Record<string, string>>;
  /** Path of a terminal device. */
  terminal: string | undefined;
  /** True when a filter of system calls is passed. */
  hasFilter: boolean;
  /** True from bubblewrap 0.8 on. */
  forbidsNamespaces: boolean;
  network: "off" | "open";
};

type Mount = { path: string; arguments: string[]; rank: number };

/** Returns the arguments up to the program. Parents are mounted before what lies in them. */
export function bubblewrapArguments(plan: SandboxPlan, setup: BubblewrapSetup): string[] {
  const { terminal, hasFilter, forbidsNamespaces, network } = setup;
  const mounts = mountsOf(plan, setup);
  return [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", ...(network === "off" ? ["--unshare-net"] : [])],
    ...["--cap-drop", "ALL", ...(forbidsNamespaces ? ["--disable-userns"] : [])],
    ...["--die-with-parent", "--new-session", "--as-pid-1"],
    ...["--ro-bind", "/", "/", "--dev", devices, "--proc", "/proc"],
    // Root needs no capability for most settings of the kernel, and bubblewrap leaves them open beside --disable-userns.
    ...["--ro-bind", "/proc/sys", "/proc/sys"],
    ...(terminal === undefined ? [] : ["--dev-bind", terminal, terminalInside]),
    ...plan.devices.flatMap((path) => ["--dev-bind-try", path, path]),
    ...mounts.flatMap((mount) => mount.arguments),
    // Only now: what lies in them had to be made first.
    ...mounts.filter(({ rank }) => rank === ranks.hiddenFolder).flatMap(({ path }) => ["--remount-ro", path]),
    ...["--info-fd", String(descriptors.info)],
    ...(hasFilter ? ["--seccomp", String(descriptors.filter)] : []),
    ...["--chdir", "/"],
  ];
}

/** Lists the mounts that close a path, or that keep its folder in place, parents first. */
export function closingMounts(plan: SandboxPlan, setup: BubblewrapSetup): Closing[] {
  return mountsOf(plan, setup).flatMap(({ path, rank, arguments: [option, source] }): Closing[] => {
    if (rank === ranks.pinned) return [{ path, how: "bound" }];
    if (rank === ranks.readOnly) return [{ path, how: "readOnly" }];
    if (rank === ranks.hiddenFolder) return [{ path, how: "empty" }];
    return rank >= ranks.hidden && option === "--ro-bind" && source !== undefined
      ? [{ path, how: "bound", source }]
      : [];
  });
}

/** Ranks mounts on one path: the highest counts. */
const ranks = {
  replaced: 0,
  shown: 1,
  pinned: 2,
  writable: 3,
  readOnly: 4,
  hidden: 5,
  hiddenFolder: 6,
  ours: 7,
};

function mountsOf(plan: SandboxPlan, setup: BubblewrapSetup): Mount[] {
  const { kind, temp, temps, emptied, shown, copies } = setup;
  const open = (folder: string) => !plan.writable.some((root) => isInside(folder, root));
  const replaced: Mount[] = [
    ...temps.filter(open).map((path) => ({ path, arguments: ["--bind", temp, path], rank: ranks.replaced })),
    ...emptied.filter(open).map((path) => ({ path, arguments: ["--tmpfs", path], rank: ranks.replaced })),
  ];
  const isGone = (path: string) =>
    isInside(path, devices) || replaced.some((one) => isInside(path, one.path));
  const bound = (option: string, rank: number) => (path: string) => ({
    path,
    arguments: [option, path, path],
    rank,
  });
  const visible = [...shown, ...plan.writable, ...plan.readOnly];
  const isVisible = (path: string) =>
    !isGone(path) || visible.some((root) => isInside(path, root) && isGone(root));
  const hidden = plan.hidden
    .filter(isVisible)
    .map((path) =>
      kind(path) === "folder"
        ? { path, arguments: ["--tmpfs", path], rank: ranks.hiddenFolder }
        : { path, arguments: ["--ro-bind", "/dev/null", path], rank: ranks.hidden },
    );
  const mounts: Mount[] = [
    ...replaced,
    ...shown.filter(isGone).map(bound("--ro-bind-try", ranks.shown)),
    ...plan.pinned.map(bound("--bind", ranks.pinned)),
    ...plan.writable.map(bound("--bind", ranks.writable)),
    ...plan.readOnly.map(bound("--ro-bind", ranks.readOnly)),
    ...hidden,
    ...plan.withoutTokens.map((path) => ({
      path,
      arguments: ["--ro-bind", copies[path] ?? "/dev/null", path],
      rank: ranks.hidden,
    })),
    ...Object.entries(setup.files ?? {}).map(([path, file]) => ({
      path,
      arguments: ["--ro-bind", file, path],
      rank: ranks.ours,
    })),
    ...plan.sockets.mask
      .filter(isVisible)
      .map((path) => ({ path, arguments: ["--ro-bind", "/dev/null", path], rank: ranks.hidden })),
    ...plan.sockets.pass.map(bound("--bind-try", ranks.hidden)),
  ];
  const byPath = Map.groupBy(mounts, ({ path }) => path);
  return [...byPath.values()]
    .flatMap((same) => same.reduce((best, mount) => (mount.rank > best.rank ? mount : best)))
    .sort((a, b) => a.path.length - b.path.length);
}
