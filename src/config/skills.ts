/** Reads skills: folders with a SKILL.md (agentskills.io). They are texts: nothing in them is run, and none grants a right. */

import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { cleanLine } from "../core/text/clean-text.ts";
import { shown } from "./instructions.ts";

/** A skill. `path`: of its SKILL.md, real. `text`: what follows the frontmatter. `byModel`: the model may start it. */
export type Skill = { name: string; description: string; path: string; text: string; byModel: boolean };

/** The result. `notes`: the skills left out, and why. */
export type FoundSkills = { skills: Skill[]; notes: string[] };

const mostBytes = 64 * 1024;
const mostSkills = 100;

/** Reads the skills of these folders. Of two with one name the first counts. */
export function readSkills(folders: readonly string[]): FoundSkills {
  const found: FoundSkills = { skills: [], notes: [] };
  for (const folder of folders) {
    for (const name of namesIn(folder, found.notes)) {
      const read = skillIn(folder, name);
      const known = found.skills.some((skill) => skill.name === name);
      if (read === undefined) continue;
      if (typeof read !== "string" && !known) found.skills.push(read);
      else
        found.notes.push(
          `${join(folder, cleanLine(name))} is not taken: ${known ? `there is a skill ${name} already` : read}`,
        );
    }
  }
  return found;
}

function namesIn(folder: string, notes: string[]): string[] {
  try {
    const names = readdirSync(folder).sort();
    if (names.length > mostSkills) notes.push(`${folder}: only the first ${mostSkills} skills are read`);
    return names.slice(0, mostSkills);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") notes.push(`${folder} was not read: ${code}`);
    return [];
  }
}

/** Reads one skill, or returns why it is none; undefined for what does not claim to be one. */
function skillIn(folder: string, name: string): Skill | string | undefined {
  try {
    const real = realpathSync(join(folder, name));
    const file = join(real, "SKILL.md");
    if (!lstatSync(real).isDirectory() || !lstatSync(file, { throwIfNoEntry: false })) return undefined;
    const path = realpathSync(file);
    if (!path.startsWith(`${real}/`)) return "its SKILL.md is a link out of its folder";
    if (!lstatSync(path).isFile()) return "its SKILL.md is not a file";
    const bytes = beginning(path);
    if (bytes.length > mostBytes) return `its SKILL.md is larger than ${mostBytes / 1024} KiB`;
    if (!Buffer.from(bytes.toString()).equals(bytes) || bytes.includes(0)) return "its SKILL.md is not text";
    return skillOf(shown(bytes.toString().replace(/^\ufeff/, "")), name, path);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code ?? error);
  }
}

function beginning(path: string): Buffer {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(mostBytes + 1);
    return bytes.subarray(0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

function skillOf(whole: string, folder: string, path: string): Skill | string {
  const [all, head] = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(whole) ?? [];
  if (all === undefined || head === undefined) return "its SKILL.md does not begin with a frontmatter (---)";
  const fields = fieldsOf(head);
  if (typeof fields === "string") return fields;
  const name = fields.get("name") ?? "";
  const description = cleanLine(fields.get("description") ?? "").trim();
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > 64)
    return "its name must be 1 to 64 of a-z, 0-9 and single hyphens";
  if (name !== folder) return `its name is ${name}, but its folder has another name`;
  if (description === "" || description.length > 1024)
    return "its description must have 1 to 1,024 characters";
  const byModel = fields.get("disable-model-invocation") !== "true";
  return { name, description, path, text: whole.slice(all.length).trim(), byModel };
}

/** Reads `key: value` lines of YAML, with quoted, folded and block values; nested maps are passed over. */
function fieldsOf(head: string): Map<string, string> | string {
  const fields = new Map<string, string>();
  let last = "";
  for (const line of head.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, key, value = ""] = /^([\w-]+):(?:[ \t]+(.*))?$/.exec(line) ?? [];
    if (key !== undefined) {
      if (fields.has(key)) return `its frontmatter has ${key} twice`;
      last = key;
      fields.set(key, /^[|>][+-]?[ \t]*$/.test(value) ? "" : unquoted(value.trim()));
    } else if (/^[ \t-]/.test(line) && last !== "")
      fields.set(last, [fields.get(last), line.trim()].filter(Boolean).join(" "));
    else return `a line of its frontmatter is not YAML: ${cleanLine(line).slice(0, 60)}`;
  }
  return fields;
}

function unquoted(value: string): string {
  return value.replace(/^(["'])(.*)\1$/, "$2");
}
