/** The plug-ins of a session: those whose files are, to the byte, the ones that a person accepted. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import type { SkillPlace } from "../../config/skills/skill.ts";
import { installedPlugins, type PluginFolders, pluginFolders } from "../../plugins/store.ts";

/** `servers`: entries as in the settings, by name; nothing in them is to be expanded. */
export type SessionPlugins = {
  places: SkillPlace[];
  servers: Record<string, Record<string, unknown>>;
  /** Folders that a server may write, by its name. */
  data: Record<string, string[]>;
};

type Parts = {
  flags: { bare: boolean };
  env: Readonly<Record<string, string | undefined>>;
  withoutTools?: boolean;
  /** Shows one line to the user. */
  warn(text: string): void;
};

/** Reads the plug-ins; nothing is loaded where there is none. None with `--bare`. */
export async function sessionPlugins({ flags, env, withoutTools, warn }: Parts): Promise<SessionPlugins> {
  const all = pluginFolders(folders(env));
  const found: SessionPlugins = { places: [], servers: {}, data: {} };
  if (flags.bare || withoutTools || installedPlugins(all).length === 0) return found;
  const { listPlugins } = await import("./accepted.ts");
  const { skillsPlace } = await import("../../plugins/read.ts");
  for (const { name, now } of listPlugins(env)) {
    if (typeof now === "string") {
      warn(`the plug-in ${name} is not used: ${now}; sawtooth plugin update ${name} fetches it anew`);
      continue;
    }
    const { root, data, notes, servers } = now.plugin;
    found.places.push(skillsPlace(name, root));
    for (const note of notes) warn(`plug-in ${name}: ${note}`);
    if (servers.size > 0) makeData(name, all);
    for (const [server, entry] of servers) {
      found.servers[`${name}.${server}`] = entry;
      found.data[`${name}.${server}`] = [data];
    }
  }
  return found;
}

function makeData(name: string, all: PluginFolders): void {
  mkdirSync(join(all.data, name), { recursive: true, mode: 0o700 });
}
