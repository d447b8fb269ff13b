/** Reads a plug-in from its folder (Agent Plugins 1.0.0). Nothing of it is run, and nothing is fetched. */

import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { readSkills } from "../config/skills/read.ts";
import type { Skill, SkillPlace } from "../config/skills/skill.ts";
import { beginningOf } from "../disk/beginning.ts";
import { realTarget } from "../disk/real-path.ts";
import { type Manifest, manifestOf, PluginError } from "./manifest.ts";
import { type PluginPlace, type PluginServers, serversIn } from "./servers.ts";

/** A plug-in. `notes`, `skillNotes`: parts of it that are left out, and why. */
export type Plugin = Manifest &
  PluginPlace & { skills: Skill[]; skillNotes: string[]; servers: PluginServers["servers"] };

const mostBytes = 256 * 1024;

/** Returns the plug-in in a folder. `data`: the folder for its data. Throws `PluginError` when it is none. */
export function readPlugin(place: PluginPlace): Plugin {
  const [root, data] = [realpathSync(place.root), realTarget(place.data)];
  const text = fileIn(root, "plugin.json");
  if (text === undefined) throw new PluginError("it has no plugin.json");
  const manifest = manifestOf(text);
  const notes = [...manifest.notes];
  const { skills, notes: skillNotes } = readSkills([skillsPlace(manifest.name, root)]);
  const servers = serversFrom({ root, data }, notes);
  return { ...manifest, root, data, notes, skills, skillNotes, servers };
}

function serversFrom(place: PluginPlace, notes: string[]): PluginServers["servers"] {
  try {
    const text = fileIn(place.root, "mcp.json");
    if (text === undefined) return new Map();
    const read = serversIn(text, place);
    notes.push(...read.notes);
    return read.servers;
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    notes.push(`no server of mcp.json is used: ${error.message}`);
    return new Map();
  }
}

/** Returns the place where the skills of a plug-in lie. */
export function skillsPlace(name: string, root: string): SkillPlace {
  return {
    ...{ folder: join(root, "skills"), called: `plug-in ${name}`, kind: "skills", origin: "plugin" },
    inside: root,
  };
}

/** Returns the text of a file at the top; undefined when there is none. Throws `PluginError`. */
function fileIn(root: string, name: string): string | undefined {
  const path = join(root, name);
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw new PluginError(`its ${name} is a link to nothing`);
  }
  if (!real.startsWith(`${root}/`)) throw new PluginError(`its ${name} is a link out of the plug-in`);
  if (!lstatSync(real).isFile()) throw new PluginError(`its ${name} is not a file`);
  const bytes = beginningOf(real, mostBytes + 1);
  if (bytes.length > mostBytes) throw new PluginError(`its ${name} is larger than ${mostBytes / 1024} KiB`);
  return bytes.toString();
}
