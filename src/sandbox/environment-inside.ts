/** The variables of commands in a sandbox. */

import { join } from "node:path";
import type { SandboxPlan } from "../core/sandbox.ts";
import { isDoor } from "../core/secrets/secrets.ts";
import { realTarget } from "../disk/real-path.ts";
import { isInside } from "../permissions/paths.ts";
import { protectionOf } from "../permissions/sandbox/plan.ts";
import { sessionGitSettings } from "./git-settings.ts";

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

type EnvironmentOptions = {
  /** The variables of Sawtooth itself. */
  whole: Readonly<Record<string, string | undefined>>;
  /** Folders of the session: those that commands write, the first for settings, and those of temporary files and caches. */
  places: { writable: readonly string[]; temp: string; caches: string };
  home: string;
  /** Folder of temporary files, as commands see it. */
  temp: string;
  /** True when the sandbox has processes, sockets and temporary files of its own. */
  hasOwnWorld: boolean;
};

/** Returns the variables of commands, made from those that they would have without a sandbox. */
export function environmentInside(
  env: Readonly<Record<string, string>>,
  plan: SandboxPlan,
  { whole, places, home, temp, hasOwnWorld }: EnvironmentOptions,
): Record<string, string> {
  const [settings = places.temp] = places.writable;
  const isHidden = (path: string) => protectionOf(plan, realOf(path)) === "hidden";
  const kept = Object.entries(env).filter(([name, value]) => !hasOwnWorld || !isShut(plan, name, value));
  const passed = plan.environment.pass.flatMap((name) =>
    whole[name] === undefined ? [] : [[name, whole[name]]],
  );
  const caches = Object.entries(cacheVariables).filter(([name]) => !isWritable(plan, env[name]));
  return Object.fromEntries([
    ...(hasOwnWorld ? Object.entries(offList) : []),
    ...kept.filter(([name]) => !plan.environment.drop.includes(name)),
    ...passed,
    ...caches.map(([name, folder]) => [name, join(places.caches, folder)]),
    ["GIT_CONFIG_GLOBAL", sessionGitSettings(settings, { env: whole, home, isHidden })],
    ...["TMPDIR", "TMP", "TEMP"].map((name) => [name, temp]),
  ]);
}

/** Returns true for a variable that leads to a socket that is not inside, or to a proxy of the machine. */
export function isShut({ sockets }: SandboxPlan, name: string, value = ""): boolean {
  // The machine's proxy is out of reach inside, and ours to use: names lead to where they should by themselves.
  if (/^(https?|ftp|all|no)_proxy$/i.test(name)) return true;
  return isDoor(name) && !sockets.pass.some((path) => value.includes(path));
}

function realOf(path: string): string {
  try {
    return realTarget(path);
  } catch {
    return path;
  }
}

/** Returns true for a path in what commands can write. */
export function isWritable(plan: SandboxPlan, path: string | undefined): boolean {
  return path !== undefined && plan.writable.some((root) => isInside(path, root));
}
