/** The plug-ins that a person accepted, each as it is now. */

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { knownHash } from "../../plugins/known-hash.ts";
import { readPlugin } from "../../plugins/read.ts";
import { type Installed, installedPlugins, type PluginFolders, pluginFolders } from "../../plugins/store.ts";
import type { Fetched } from "./fetched.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Lists those that were accepted, each with what it is now or why it is not used. */
export function listPlugins(env: Environment): (Installed & { now: Fetched | string })[] {
  const all = pluginFolders(folders(env));
  return installedPlugins(all).map((plugin) => ({ ...plugin, now: acceptedNow(plugin, all) }));
}

/** Returns the plug-in, or why it is not used. */
export function acceptedNow(plugin: Installed, all: PluginFolders): Fetched | string {
  try {
    const now = stored(plugin, all);
    return now.hash === plugin.hash ? now : "its files are not those that were accepted";
  } catch (error) {
    return (error as Error).message;
  }
}

function stored({ name, inner, source }: Installed, all: PluginFolders): Fetched {
  const place = join(all.plugins, name);
  const plugin = readPlugin({ root: join(place, inner), data: join(all.data, name) });
  return { plugin, source, place, ...knownHash(realpathSync(place), all.hashes) };
}
