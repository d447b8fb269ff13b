/**
 * Reads skills (agentskills.io) and commands, which are skills without a folder. They are texts: nothing in them is
 * included, run or filled in here, and none grants a right.
 */

import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { cleanLine } from "../../core/text/clean-text.ts";
import { beginningOf } from "../../disk/beginning.ts";
import { shown } from "../instructions.ts";
import { contentsOf, hashOfFile } from "./content-hash.ts";
import { hasFrontmatter, type Parsed, parsedText, skillName, skillProblem, textOf } from "./frontmatter.ts";
import type { FoundSkills, Skill, SkillPlace } from "./skill.ts";

const mostBytes = 64 * 1024;
const most = { skills: 100, commands: 50 };
/** Characters of a command's description; that of a skill has a limit of its own. */
const longestDescription = 200;

/** Reads the skills and commands of these places. Of two of one kind with one name the first counts. */
export function readSkills(places: readonly SkillPlace[]): FoundSkills {
  const found: FoundSkills = { skills: [], notes: [] };
  for (const place of places) {
    const folder = realFolder(place, found.notes);
    for (const name of folder === undefined ? [] : namesIn(folder, place, found.notes))
      take(found, place, name, folder ?? "");
  }
  return found;
}

function take(found: FoundSkills, place: SkillPlace, name: string, folder: string): void {
  const read = readOne(place, folder, name);
  if (read === undefined) return;
  const leave = (why: string): void => {
    const what = place.kind === "skills" ? "taken" : "a command";
    found.notes.push(`${place.called}/${cleanLine(shown(name))} is not ${what}: ${why}`);
  };
  if (typeof read === "string") leave(read);
  // A link to a skill of another place is that skill: installers put one beside each.
  if (typeof read === "string" || found.skills.some(({ path }) => path === read.path)) return;
  const known = found.skills.find(
    (each) => each.name === read.name && (each.folder === undefined) === (read.folder === undefined),
  );
  if (known) leave(`there is a ${place.kind === "skills" ? "skill" : "command"} ${read.name} already`);
  else found.skills.push(read);
}

/** Resolves the folder of a place; undefined when there is none to read. */
function realFolder({ folder, inside, called }: SkillPlace, notes: string[]): string | undefined {
  try {
    const real = realpathSync(folder);
    if (!lstatSync(real).isDirectory()) return undefined;
    if (inside === undefined || isIn(real, inside)) return real;
    notes.push(`${called} was not read: it leads out of its folder`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") notes.push(`${called} was not read: ${code}`);
  }
  return undefined;
}

function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
}

function namesIn(folder: string, { kind, called }: SkillPlace, notes: string[]): string[] {
  try {
    const all = readdirSync(folder);
    const names = all.filter((name) => kind === "skills" || name.endsWith(".md")).sort();
    const what = kind === "skills" ? "skills" : "files";
    if (names.length > most[kind]) notes.push(`${called}: only the first ${most[kind]} ${what} are read`);
    return names.slice(0, most[kind]);
  } catch (error) {
    notes.push(`${called} was not read: ${(error as NodeJS.ErrnoException).code}`);
    return [];
  }
}

/** Reads one, or returns why it is none, as the rest of a sentence; undefined for what does not claim to be one. */
function readOne(place: SkillPlace, folder: string, name: string): Skill | string | undefined {
  try {
    return place.kind === "skills" ? skillIn(place, folder, name) : commandIn(place, folder, name);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code ?? error);
  }
}

function skillIn(place: SkillPlace, folder: string, name: string): Skill | string | undefined {
  const real = realpathSync(join(folder, name));
  if (!lstatSync(real).isDirectory()) return undefined;
  const file = (place.origin === "plugin" ? ["SKILL.md"] : ["SKILL.md", "skill.md"])
    .map((each) => join(real, each))
    .find((each) => lstatSync(each, { throwIfNoEntry: false }));
  if (file === undefined) return undefined;
  if (place.inside !== undefined && !isIn(real, place.inside)) return "it is a link out of the folder";
  const path = realpathSync(file);
  const bounds = place.origin === "plugin" ? (place.inside ?? real) : real;
  if (!isIn(path, bounds)) return "its SKILL.md is a link out of its folder";
  const text = textIn(path, "its SKILL.md");
  if (typeof text !== "object") return text;
  if (!hasFrontmatter(text.whole)) return "its SKILL.md does not begin with a frontmatter (---)";
  const parsed = parsedText(text.whole);
  if (typeof parsed === "string") return parsed;
  const problem = skillProblem(parsed, name);
  if (problem !== undefined) return problem;
  const known = contentsFor(place, real);
  if (typeof known === "string") return known;
  const description = cleanLine(shown(textOf(parsed, "description"))).trim();
  return { ...common(parsed, place), ...known, name: skillName(parsed), description, path, folder: real };
}

/** Hashes what is of the project: the person's own needs no trust, and a plug-in is hashed as a whole. */
function contentsFor({ inside, origin }: SkillPlace, folder: string) {
  if (inside === undefined || origin === "plugin") return { files: [] };
  const contents = contentsOf(folder);
  if (typeof contents === "string") return contents;
  return { hash: contents.hash, files: contents.files };
}

function commandIn(place: SkillPlace, folder: string, file: string): Skill | string {
  const name = file.slice(0, -3);
  const link = join(folder, file);
  const path = realpathSync(link);
  if (lstatSync(link).isSymbolicLink() && !isIn(path, folder)) return "it is a link out of the folder";
  const text = textIn(path, "it");
  if (typeof text !== "object") return text;
  if (!/^[a-z0-9][a-z0-9_-]{0,39}$/i.test(name)) return "its name may hold letters, digits, - and _ only";
  const parsed = parsedText(text.whole);
  if (typeof parsed === "string") return parsed;
  if (parsed.body === "") return "it is empty";
  const described = cleanLine(shown(textOf(parsed, "description"))).trim();
  return {
    ...common(parsed, place),
    ...{ name, path, files: [], description: described.slice(0, longestDescription).toWellFormed() },
    // A command is the person's, unless it says otherwise.
    byModel: parsed.fields["disable-model-invocation"] === false && described !== "",
    ...(place.inside === undefined ? {} : { hash: hashOfFile(path, text.bytes) }),
  };
}

/** Reads a text file, or says why it cannot be one. `it`: how the sentence names it. */
function textIn(path: string, it: string): { bytes: Buffer; whole: string } | string {
  if (!lstatSync(path).isFile()) return `${it} is not a file`;
  const bytes = beginningOf(path, mostBytes + 1);
  if (bytes.length > mostBytes) return `${it} is larger than ${mostBytes / 1024} KiB`;
  const whole = bytes.toString();
  if (bytes.includes(0) || !Buffer.from(whole).equals(bytes)) return `${it} is not text`;
  return { bytes, whole };
}

function common(parsed: Parsed, { called, origin }: SkillPlace) {
  const hint = cleanLine(shown(textOf(parsed, "argument-hint"))).trim();
  return {
    ...{ place: called, origin, text: shown(parsed.body) },
    byModel: parsed.fields["disable-model-invocation"] !== true,
    ...forkOf(parsed),
    ...(hint ? { argument: hint.slice(0, 60).toWellFormed() } : {}),
  };
}

/** Reads whether it is a role, and what it asks for its sub-agent. */
function forkOf(parsed: Parsed): Pick<Skill, "asksForTools" | "fork"> {
  const asked = parsed.fields["allowed-tools"];
  if (textOf(parsed, "context").trim() !== "fork") return { asksForTools: asked !== undefined };
  const [model, effort] = ["model", "effort"].map((name) => cleanLine(shown(textOf(parsed, name))).trim());
  return {
    asksForTools: false,
    fork: {
      ...(asked === undefined ? {} : { tools: entriesOf(asked) }),
      ...(model && model !== "inherit" ? { model } : {}),
      ...(effort ? { effort } : {}),
    },
  };
}

/** Returns the entries of a list, or of a text with commas or spaces between them. */
function entriesOf(value: unknown): string[] {
  const texts = Array.isArray(value)
    ? value.map(String)
    : String(value ?? "").match(/[^\s,(]+(?:\([^)]*\))?/g);
  return (texts ?? []).map((text) => cleanLine(shown(text)).trim()).filter((text) => text !== "");
}
