/** The sandbox of a session: makes the plan when the shell starts, and opens the engine with it. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { PermissionMode } from "../core/decision.ts";
import type { Box, Sandbox, SandboxPlan } from "../core/sandbox.ts";
import { isDoor, withheldNames } from "../core/secrets/secrets.ts";
import { realTarget } from "../disk/real-path.ts";
import { parseRule } from "../permissions/parse-rule.ts";
import { isInside } from "../permissions/paths.ts";
import { hiddenLater, protectionOf, sandboxPlan } from "../permissions/sandbox/plan.ts";
import { withoutTokens } from "../permissions/sandbox/protected-paths.ts";
import { type BoxStart, startBox } from "./box.ts";
import { bubblewrapArguments, closingMounts, terminalInside } from "./bubblewrap.ts";
import type { Bubblewrap, Engine } from "./engine.ts";
import { kindOf, lookAround, ownPrograms } from "./found.ts";
import { sessionGitSettings } from "./git-settings.ts";
import {
  canHide,
  entriesOf,
  type Landlock,
  landlockPart,
  landlockRules,
  landlockWords,
  rulesText,
} from "./landlock.ts";
import { type BoundSocket, boundSockets, lateSockets } from "./late-sockets.ts";
import { type LostOptions, lostMounts } from "./lost-mounts.ts";
import type { Closing } from "./mount-inside.ts";
import { type Watch, watchBox } from "./watch.ts";

/** Folders of a session, real and existing. */
export type SessionPlaces = {
  /** Folders that commands can read, and those that they can write. */
  readable: readonly string[];
  writable: readonly string[];
  /** Stands in for the machine's folders of temporary files. */
  temp: string;
  /** Holds the caches of package managers, shared by the sessions of a workspace. */
  caches: string;
  /** A folder for files of ours that commands see but cannot write. */
  copies: string;
};

export type InsideOptions = {
  engine: Engine;
  env: Readonly<Record<string, string | undefined>>;
  /** Real paths. */
  workspace: readonly string[];
  home: string;
  own: readonly string[];
  places: SessionPlaces;
  /** Path of the file that Node was started with. */
  main: string | undefined;
  mode(): PermissionMode;
  rules(): { allow: readonly string[]; deny: readonly string[] };
  /** Called when the engine cannot be started any more. */
  onFailed?: (() => void) | undefined;
  /** Called with each plan that a sandbox is started with. `hides`: the engine hides all that the plan does. */
  onPlan(plan: SandboxPlan, hides: boolean): void;
  /** Shows one line to the person. */
  warn?: (text: string) => void;
  /** Serves names inside; without it there is no network. */
  network?: BoxNetwork | undefined;
};

/** The network of a sandbox as the engine sees it. */
export type BoxNetwork = {
  /** Files that are shown in place of the machine's, by absolute real path. */
  files: readonly { path: string; text: string }[];
  /** Serves the network of a sandbox by its first process. `starting`: rejects when it cannot start. Never rejects. */
  serve(pid: number, starting: Promise<unknown>): Promise<void>;
};

/** Folders of temporary files that a session gets its own of. */
const temps = ["/tmp", "/var/tmp"];
/** The folder of sockets and pids of the running system. */
const emptied = ["/run"];

/** Returns the way into the sandbox. Nothing is started before the shell opens it. */
export function sandboxOf(options: InsideOptions): Sandbox {
  const state: State = { options, plans: new WeakMap(), watches: new WeakMap(), newest: undefined };
  return {
    endsAll: options.engine.name === "namespaces",
    plan() {
      const key = planKey(options);
      return state.newest?.key === key ? state.newest.plan : renewed(state, key).plan;
    },
    // What was to be hidden may have gone before it was: another look knows.
    open: (start) =>
      openBox(state, start)
        .catch(() => openBox(state, start))
        .catch((error: Error) => {
          options.onFailed?.();
          throw error;
        }),
    isCurrent: (box) => state.plans.get(box) === planKey(options),
    closeLate: async (box) => state.watches.get(box)?.look(),
    calm: (box) => state.watches.get(box)?.calm(),
    hostPath: (path) => hostPath(options, path),
  };
}

type State = {
  options: InsideOptions;
  /** Keys of the plans that sandboxes were opened with. */
  plans: WeakMap<Box, string>;
  watches: WeakMap<Box, Watch>;
  newest: { key: string; plan: SandboxPlan } | undefined;
};

/** Makes the plan of now. */
function renewed(state: State, key: string): Planned {
  const { options } = state;
  const { places } = options;
  for (const folder of [...places.writable, places.temp, places.caches, places.copies])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { plan, later } = planOf(options);
  state.newest = { key, plan: options.engine.name === "landlock" ? landlockPart(plan) : plan };
  return { plan: state.newest.plan, later };
}

async function openBox(state: State, { terminal, env }: Parameters<Sandbox["open"]>[0]): Promise<Box> {
  const { options, plans, watches } = state;
  const { engine, network, onPlan } = options;
  const key = planKey(options);
  const before = boundSockets();
  const { plan, later } = renewed(state, key);
  const { walls, ...start } =
    engine.name === "landlock"
      ? landlockStart(engine.landlock, plan, options, terminal)
      : bubblewrapStart(engine, plan, options, terminal);
  let served: Promise<void> | undefined;
  const starting = startBox({
    ...{ ...start, env: environmentInside(env, plan, options) },
    // The network is there before the walls are.
    onPid(pid) {
      served = network?.serve(pid, starting);
    },
  });
  const box = await starting;
  const hidden = later.map((path) => ({ path, how: "hidden" as const, source: "/dev/null" }));
  if (engine.name === "namespaces")
    watches.set(
      box,
      watchOf(box, { before, plan, walls: [...walls, ...hidden], ...changesOf(state) }, options),
    );
  await served;
  plans.set(box, key);
  onPlan(plan, engine.name === "namespaces" || canHide(plan));
  return box;
}

/** Changes the plan with what appears and goes on the machine. */
function changesOf(state: State): Pick<LostOptions, "onGone" | "onHidden"> {
  const change = (part: "watched" | "hidden", paths: readonly string[]): void => {
    if (!state.newest || paths.length === 0) return;
    const { plan } = state.newest;
    state.newest.plan = { ...plan, [part]: [...new Set([...plan[part], ...paths])] };
  };
  return {
    // What appears there now is none of the person's.
    onGone(path) {
      if (state.newest && isWritable(state.newest.plan, path)) change("watched", [path]);
    },
    onHidden: (paths) => change("hidden", paths),
  };
}

type Opened = {
  /** The sockets of the machine before it was opened. */
  before: readonly BoundSocket[];
  plan: SandboxPlan;
  walls: readonly Closing[];
} & Pick<LostOptions, "onGone" | "onHidden">;

/** Watches for sockets that appear in what a sandbox shows of the machine, and for walls that are taken off. */
function watchOf(box: Box, { before, plan, walls, onGone, onHidden }: Opened, options: InsideOptions): Watch {
  const { pass } = plan.sockets;
  const shown = [...shownFolders(options), ...plan.writable];
  const own = [...temps, ...emptied, ...plan.hidden];
  const deepest = (path: string, roots: readonly string[]) =>
    Math.max(-1, ...roots.filter((root) => isInside(path, root)).map((root) => root.length));
  const both = { pid: box.pid, isAlive: box.isAlive };
  const warn = options.warn ?? (() => {});
  const isLeft = (path: string) => pass.includes(path) || deepest(path, own) > deepest(path, shown);
  const sockets = lateSockets(before, { ...both, isLeft, onFailure: warn });
  const onFailure = (reason: string): void => {
    warn(reason);
    box.kill();
  };
  const lost = lostMounts(walls, { ...both, onGone, onHidden, warn, onFailure });
  return watchBox({
    look: (during) => Promise.all([sockets.look(), lost(during)]),
    isAlive: box.isAlive,
    onEnd: sockets.close,
  });
}

function planKey({ mode, rules }: InsideOptions): string {
  const { allow, deny } = rules();
  // Rules about programs and hosts change nothing that a running sandbox would have to be started anew for.
  const about = /^(?:edit|read|socket|device|env)\b/;
  return JSON.stringify([
    mode() === "plan",
    allow.filter((rule) => about.test(rule)),
    deny.filter((rule) => about.test(rule)),
  ]);
}

/** `later`: what would be hidden as well, and does not exist. */
type Planned = { plan: SandboxPlan; later: string[] };

function planOf(options: InsideOptions): Planned {
  const { workspace, home, own, places, mode, rules, main, env } = options;
  const { allow, deny } = rules();
  const input = {
    ...{ mode: mode(), allow: allow.map(parseRule), deny: deny.map(parseRule), workspace, home, own },
    session: {
      readable: [...places.readable, places.copies],
      writable: [...places.writable, places.temp, places.caches],
    },
    found: lookAround({ workspace, env, home }, ownPrograms(main, workspace)),
  };
  const plan = sandboxPlan(input);
  const { pass, drop } = plan.environment;
  const secret = withheldNames(env, new Set(pass));
  const hidden = hasOwnWorld(options) ? Object.keys(env).filter((name) => isShut(plan, name, env[name])) : [];
  const environment = { pass, drop: [...new Set([...secret, ...hidden, ...drop])].sort() };
  return { plan: { ...plan, environment }, later: hiddenLater(input) };
}

function hasOwnWorld({ engine }: InsideOptions): boolean {
  return engine.name === "namespaces";
}

/** Returns true for a variable that leads to a socket that is not inside, or to a proxy of the machine. */
function isShut({ sockets }: SandboxPlan, name: string, value = ""): boolean {
  // The machine's proxy is out of reach inside, and ours to use: names lead to where they should by themselves.
  if (/^(https?|ftp|all|no)_proxy$/i.test(name)) return true;
  return isDoor(name) && !sockets.pass.some((path) => value.includes(path));
}

type WalledStart = Omit<BoxStart, "env"> & { walls: readonly Closing[] };

function bubblewrapStart(
  engine: Bubblewrap,
  plan: SandboxPlan,
  options: InsideOptions,
  terminal: string | undefined,
): WalledStart {
  const setup = setupOf(engine, options, plan, terminal);
  return {
    walls: closingMounts(plan, setup),
    program: engine.program,
    arguments: bubblewrapArguments(plan, setup),
    filter: engine.filter,
    terminal: terminal === undefined ? undefined : terminalInside,
    hasOwnPids: true,
  };
}

function landlockStart(
  landlock: Landlock,
  plan: SandboxPlan,
  { places }: InsideOptions,
  terminal: string | undefined,
): WalledStart {
  const rules = join(places.copies, "landlock-rules");
  writeFileSync(rules, rulesText(landlockRules(plan, entriesOf)), { mode: 0o600 });
  const [program = "", ...words] = landlockWords(landlock, rules, []);
  return { walls: [], program, arguments: words, filter: undefined, terminal, hasOwnPids: false };
}

/** Lists the folders that stay visible where the machine's are replaced. */
function shownFolders({ env, home, workspace, main }: InsideOptions): string[] {
  const path = (env.PATH ?? "").split(delimiter).filter((entry) => entry.startsWith("/"));
  return [...path, home, ...workspace, ...ownPrograms(main, [])];
}

function setupOf(
  engine: Bubblewrap,
  options: InsideOptions,
  plan: SandboxPlan,
  terminal: string | undefined,
) {
  const { places, network } = options;
  const shownFiles = (network?.files ?? []).map(({ path: at, text }, index) => {
    const file = join(places.copies, `network-${index}`);
    writeFileSync(file, text, { mode: 0o644 });
    return [at, file];
  });
  const copies = plan.withoutTokens.map((one, index) => [
    one,
    copied(one, join(places.copies, `settings-${index}`)),
  ]);
  return {
    ...{ kind: kindOf, temp: places.temp, temps, emptied, terminal },
    shown: shownFolders(options),
    copies: Object.fromEntries(copies) as Record<string, string>,
    files: Object.fromEntries(shownFiles) as Record<string, string>,
    forbidsNamespaces: engine.forbidsNamespaces,
    hasFilter: engine.filter !== undefined,
    network: "off" as const,
  };
}

/** Writes the copy of a settings file without its tokens. */
function copied(path: string, copy: string): string {
  try {
    writeFileSync(copy, withoutTokens(readFileSync(path, "utf8")), { mode: 0o600 });
    return copy;
  } catch {
    return "/dev/null";
  }
}

/** Variables that point package managers at the caches of the session, by folder. */
const cacheVariables: Readonly<Record<string, string>> = {
  npm_config_cache: "npm",
  // Not as npm_config_…: npm warns of each variable of that name that it does not know.
  npm_package_config_node_gyp_devdir: "node-gyp",
  PNPM_HOME: "pnpm",
  YARN_CACHE_FOLDER: "yarn",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  GOMODCACHE: "go/mod",
  GOCACHE: "go/build",
  DENO_DIR: "deno",
  CCACHE_DIR: "ccache",
};

/**
 * Keeps package managers from asking for news of themselves, which no host on the list gives, and npm and pip from
 * waiting 10 to 60 seconds before they try a host again that was refused. In milliseconds.
 */
const offList: Readonly<Record<string, string>> = {
  npm_config_update_notifier: "false",
  NO_UPDATE_NOTIFIER: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  npm_config_fetch_retry_mintimeout: "100",
  npm_config_fetch_retry_maxtimeout: "1000",
  // At once, and after half a second.
  PIP_RETRIES: "2",
};

function environmentInside(
  env: Readonly<Record<string, string>>,
  plan: SandboxPlan,
  options: InsideOptions,
): Record<string, string> {
  const { env: whole, places, home } = options;
  const [settings = places.temp] = places.writable;
  const isHidden = (path: string) => protectionOf(plan, realOf(path)) === "hidden";
  const kept = Object.entries(env).filter(
    ([name, value]) => !hasOwnWorld(options) || !isShut(plan, name, value),
  );
  const passed = plan.environment.pass.flatMap((name) =>
    whole[name] === undefined ? [] : [[name, whole[name]]],
  );
  const caches = Object.entries(cacheVariables).filter(([name]) => !isWritable(plan, env[name]));
  return Object.fromEntries([
    ...(hasOwnWorld(options) ? Object.entries(offList) : []),
    ...kept.filter(([name]) => !plan.environment.drop.includes(name)),
    ...passed,
    ...caches.map(([name, folder]) => [name, join(places.caches, folder)]),
    ["GIT_CONFIG_GLOBAL", sessionGitSettings(settings, { env: whole, home, isHidden })],
    ...["TMPDIR", "TMP", "TEMP"].map((name) => [name, hasOwnWorld(options) ? temps[0] : places.temp]),
  ]);
}

function realOf(path: string): string {
  try {
    return realTarget(path);
  } catch {
    return path;
  }
}

function isWritable(plan: SandboxPlan, path: string | undefined): boolean {
  return path !== undefined && plan.writable.some((root) => isInside(path, root));
}

/** Returns where a file inside lies on the machine: temporary files are the session's own. */
function hostPath({ engine, workspace, home, places }: InsideOptions, path: string): string {
  if (engine.name !== "namespaces") return path;
  const shown = [...workspace, home, ...places.readable, ...places.writable, places.caches];
  const folder = temps.find((one) => isInside(path, one));
  if (folder === undefined || shown.some((one) => isInside(path, one) || isInside(folder, one))) return path;
  return join(places.temp, path.slice(folder.length));
}
