/** The skills and commands of a session: the person's, and those that the person trusts. */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { folders } from "../../config/folders.ts";
import { isUnchanged } from "../../config/skills/content-hash.ts";
import { calledBy, type Origin, type Skill, type SkillPlace } from "../../config/skills/skill.ts";
import { rememberTrust, trusted } from "../../config/trust.ts";
import { policyInputOf } from "../../context/policies/policy-input.ts";
import { textTokens } from "../../context/view/tokens.ts";
import { applyEvents } from "../../context/view/view.ts";
import type { LogEvent } from "../../core/events.ts";
import { enclosed, withoutTags } from "../../core/text/tags.ts";
import type { SessionOptions } from "../options.ts";

/** One of the project that waits for trust. `changed`: the person trusted it as it was before. */
export type Untrusted = Skill & { changed: boolean };

export type SessionSkills = {
  /** Those in use, by rank: of two with one name the first counts. */
  inUse(): readonly Skill[];
  /** Those of the project that wait for trust. */
  untrusted(): readonly Untrusted[];
  /** Takes some of them from now on. Throws an error of one line when that cannot be remembered. */
  trust(these: readonly Untrusted[]): void;
  /** Returns a line for each that was left out, with the reason. */
  notes(): readonly string[];
  /** Returns the role in use with this name, in any letter case. */
  role(name: string): Skill | undefined;
  /** The text that lists for the model what it may start; undefined when there is nothing. */
  catalogue(events: readonly LogEvent[]): string | undefined;
  /** Returns true for the file of a skill whose text stays in the context once it was viewed. */
  isInstruction(path: string): boolean;
  /** Returns, for the model, those trusted since the catalogue was sent. */
  takeNotices(): string[];
};

type Parts = {
  flags: Pick<SessionOptions, "bare">;
  env: Readonly<Record<string, string | undefined>>;
  /** The session only turns text into data. */
  withoutTools?: boolean;
  /** Shows one line to the user. */
  warn(text: string): void;
  /** Real paths. */
  home: string;
  workspace: string;
  /** The skills of plug-ins. */
  plugins: readonly SkillPlace[];
  /**
   * The model may start roles as sub-agents where these are offered; otherwise they are skills like others. A sub-agent,
   * where it is undefined, is not told of them.
   */
  delegation: { isOffered: boolean } | undefined;
  /** Nobody is there who could start a command, or be asked. */
  headless: boolean;
  redact(text: string): string;
};

/** Reads the skills of a session, once, so that what was trusted is what is used; none with `--bare`. */
export async function sessionSkills(parts: Parts): Promise<SessionSkills> {
  const places = placesOf(parts).filter(({ folder }) => existsSync(folder));
  if (parts.flags.bare || parts.withoutTools || places.length === 0) return skillsOf([], [], parts);
  const { readSkills } = await import("../../config/skills/read.ts");
  const found = (["project", "person", "plugin"] as const).map((origin) =>
    readSkills(places.filter((place) => place.origin === origin)),
  );
  const skills = found.flatMap((each) => each.skills).map((skill) => redacted(skill, parts));
  const notes = found.flatMap((each) => each.notes);
  const made = skillsOf(skills, notes, parts);
  if (parts.headless) warnOf(made, parts.warn);
  return made;
}

function redacted(skill: Skill, { redact }: Parts): Skill {
  return { ...skill, text: redact(skill.text), description: redact(skill.description) };
}

/** The folders, those of the project first. */
function placesOf({ env, home, workspace, headless, plugins }: Parts): SkillPlace[] {
  const { config } = folders(env);
  const place = (origin: Origin, kind: SkillPlace["kind"], folder: string, called = folder): SkillPlace => ({
    ...{ origin, kind, folder, called },
    ...(origin === "project" ? { inside: workspace } : {}),
  });
  const ofProject = (kind: SkillPlace["kind"], path: string) =>
    place("project", kind, join(workspace, path), path);
  const isHome = workspace === home;
  return [
    ...(headless ? [] : [ofProject("commands", ".sawtooth/commands")]),
    ...(isHome ? [] : [".agents/skills", ".claude/skills"].map((path) => ofProject("skills", path))),
    ...(headless ? [] : [place("person", "commands", join(config, "commands"))]),
    place("person", "skills", join(config, "skills")),
    ...[".agents/skills", ".claude/skills"].map((path) => place("person", "skills", join(home, path))),
    ...plugins,
  ];
}

function skillsOf(skills: readonly Skill[], notes: readonly string[], parts: Parts): SessionSkills {
  const file = join(folders(parts.env).state, "trusted.jsonl");
  const decided = skills.map((skill) => ({ skill, ...trustIn(file, skill) }));
  const taken = new Set(decided.filter(({ now }) => now).map(({ skill }) => skill));
  const untold: Skill[] = [];
  const warned = new Set<Skill>();
  let told = false;
  const ranks = () => ranked(skills.filter((skill) => taken.has(skill)));
  const isListed = ({ byModel, fork }: Skill) => byModel && !(fork && parts.delegation === undefined);
  const asRoles = parts.delegation?.isOffered === true;
  const inUse = () => ranks().first;
  return {
    notes: () => [...notes, ...ranks().hidden.map(hiddenNote)],
    inUse,
    untrusted: () =>
      decided
        .filter(({ skill }) => !taken.has(skill))
        .map(({ skill, before }) => ({ ...skill, changed: before })),
    role: (name) => inUse().find((skill) => skill.fork && skill.name.toLowerCase() === name.toLowerCase()),
    trust(these) {
      const chosen = skills.filter((skill) => these.some(({ path }) => path === skill.path));
      for (const skill of chosen) taken.add(skill);
      if (told) untold.push(...chosen.filter(isListed));
      for (const { hash = "", path } of chosen) rememberTrust(file, { hash, folder: path });
    },
    catalogue(events) {
      told = true;
      return skillsText(inUse().filter(isListed), events, asRoles);
    },
    isInstruction(path) {
      const skill = inUse().find((each) => each.path === path);
      if (!skill || isUnchanged(skill)) return skill !== undefined;
      if (!warned.has(skill))
        parts.warn(`the skill ${skill.name} has changed: its text is no instruction now`);
      warned.add(skill);
      return false;
    },
    takeNotices() {
      const lines = untold.splice(0).map((skill) => lineOf(skill, asRoles));
      return lines.length === 0 ? [] : [`More skills, which the person trusts now:\n${lines.join("\n")}`];
    },
  };
}

function trustIn(file: string, { hash, path }: Skill): { now: boolean; before: boolean } {
  return hash === undefined ? { now: true, before: true } : trusted(file, { hash, folder: path });
}

type Hidden = { skill: Skill; by: Skill };

/** Ranks them: of two skills, or two commands, with one name the first counts. */
function ranked(skills: readonly Skill[]): { first: Skill[]; hidden: Hidden[] } {
  const ranks = { first: new Map<string, Skill>(), hidden: [] as Hidden[] };
  for (const skill of skills) {
    const key = `${skill.folder === undefined ? "/" : ""}${skill.name.toLowerCase()}`;
    const by = ranks.first.get(key);
    if (by) ranks.hidden.push({ skill, by });
    else ranks.first.set(key, skill);
  }
  return { first: [...ranks.first.values()], hidden: ranks.hidden };
}

function hiddenNote({ skill, by }: Hidden): string {
  return `${calledBy(skill)} is not used: ${calledBy(by)} has its name, and comes first`;
}

/** Says what a run without a person leaves out. */
function warnOf({ notes, untrusted }: SessionSkills, warn: (text: string) => void): void {
  for (const note of notes()) warn(note);
  const names = untrusted().map(({ name }) => name);
  if (names.length === 0) return;
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  warn(
    `skills of the project are not taken: ${names.slice(0, 10).join(", ")}${more}; /trust in the screen shows what they say`,
  );
}

/** Share of the soft window that the lines may take. */
const share = 0.02;

/** Returns the text that lists skills: whole lines while there is room, then names alone. */
function skillsText(
  skills: readonly Skill[],
  events: readonly LogEvent[],
  asRoles: boolean,
): string | undefined {
  if (skills.length === 0) return undefined;
  const first = asRoles && skills.some(({ fork }) => fork) ? `${head} ${roleHead}` : head;
  let left = share * policyInputOf(events, applyEvents(events), 0).soft.tokens - textTokens(first);
  const lines: string[] = [];
  const byName: Skill[] = [];
  for (const skill of skills) {
    const line = lineOf(skill, asRoles);
    const tokens = textTokens(line);
    if (byName.length > 0 || tokens > left) byName.push(skill);
    else lines.push(line);
    left -= tokens;
  }
  if (byName.length > 0) lines.push(namesOf(byName));
  return enclosed("skills", [first, ...lines].join("\n"));
}

/** Names alone, by where their folders are. */
function namesOf(skills: readonly Skill[]): string {
  const parents = Map.groupBy(skills, ({ path, folder = path }) => dirname(folder));
  const lists = [...parents].map(
    ([parent, all]) => `in ${parent}: ${all.map(({ path, folder = path }) => basename(folder)).join(", ")}`,
  );
  return withoutTags(`- more, each a folder with a SKILL.md, ${lists.join("; ")}`);
}

function lineOf({ name, description, path, fork }: Skill, asRoles: boolean): string {
  return withoutTags(`- ${name}: ${description} (${fork && asRoles ? "role" : path})`);
}

const head =
  "Instructions for kinds of work, written or trusted by the person. Before work that a description fits, view the file named with it and follow it.";
const roleHead =
  "Those marked as a role are for sub-agents: call `delegate` with the role's name instead of viewing a file.";
