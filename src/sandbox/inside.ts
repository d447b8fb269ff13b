/** The sandbox of a session: makes the plan when the shell starts, and opens the engine with it. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { PermissionMode } from "../core/decision.ts";
import type { Box, Sandbox, SandboxPlan } from "../core/sandbox.ts";
import { withheldNames } from "../core/secrets/secrets.ts";
import { parseRule } from "../permissions/parse-rule.ts";
import { isInside } from "../permissions/paths.ts";
import { hiddenLater, sandboxPlan } from "../permissions/sandbox/plan.ts";
import { withoutTokens } from "../permissions/sandbox/protected-paths.ts";
import { activityIn } from "./activity.ts";
import { type BoxStart, startBox } from "./box.ts";
import { bubblewrapArguments, closingMounts, devices, terminalInside } from "./bubblewrap.ts";
import type { Bubblewrap, Engine } from "./engine.ts";
import { environmentInside, isShut, isWritable } from "./environment-inside.ts";
import { kindOf, type Look, lookAround, ownPrograms } from "./found.ts";
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
  /**
   * Called often while a command runs (`during`), and else where something in the sandbox has run since the last time:
   * to look at what it left behind.
   */
  onLook?: ((during: boolean) => void) | undefined;
  /** Shows one line to the person. */
  warn?: (text: string) => void;
  /** Serves names inside; without it there is no network. */
  network?: BoxNetwork | undefined;
  /** Lists the paths that the settings in a git folder lead to, by it, the folder of its files and the home. */
  namedByGit?: Look["namedByGit"];
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
    hostPath: (path) => hostPath(options, state.newest?.plan, path),
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
    ...{ ...start, env: environmentInside(env, plan, environmentOptions(options)) },
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
  const own = [...temps, ...emptied, devices, ...plan.hidden];
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
  const activity = activityIn(box.pid);
  return watchBox({
    look: (during) => Promise.all([sockets.look(), lost(() => during || activity.hasMore())]),
    onTurn(during) {
      if (options.onLook && (during || activity.hasRun())) options.onLook(during);
    },
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
  const { workspace, home, own, places, mode, rules, main, env, namedByGit } = options;
  const { allow, deny } = rules();
  const input = {
    ...{ mode: mode(), allow: allow.map(parseRule), deny: deny.map(parseRule), workspace, home, own },
    session: {
      readable: [...places.readable, places.copies],
      writable: [...places.writable, places.temp, places.caches],
    },
    found: lookAround({ workspace, env, home, namedByGit }, ownPrograms(main, workspace)),
  };
  const plan = sandboxPlan(input);
  const { pass, drop } = plan.environment;
  const secret = withheldNames(env, new Set(pass));
  const hidden = hasOwnWorld(options) ? Object.keys(env).filter((name) => isShut(plan, name, env[name])) : [];
  const environment = { pass, drop: [...new Set([...secret, ...hidden, ...drop])].sort() };
  return { plan: { ...plan, environment }, later: hiddenLater(input) };
}

function environmentOptions(options: InsideOptions): Parameters<typeof environmentInside>[2] {
  const { env: whole, places, home } = options;
  const isOwn = hasOwnWorld(options);
  return { whole, places, home, temp: (isOwn ? temps[0] : undefined) ?? places.temp, hasOwnWorld: isOwn };
}

function hasOwnWorld({ engine }: InsideOptions): boolean {
  return engine.name === "namespaces";
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

/** Returns where a file inside lies on the machine: temporary files are the session's own. */
function hostPath(
  { engine, workspace, home, places }: InsideOptions,
  plan: Pick<SandboxPlan, "writable" | "readOnly"> | undefined,
  path: string,
): string {
  if (engine.name !== "namespaces") return path;
  const planned = plan ? [...plan.writable, ...plan.readOnly] : [];
  const shown = [...workspace, home, ...places.readable, ...places.writable, places.caches, ...planned];
  const folder = temps.find((one) => isInside(path, one));
  if (folder === undefined || shown.some((one) => isInside(path, one) || isInside(folder, one))) return path;
  return join(places.temp, path.slice(folder.length));
}
