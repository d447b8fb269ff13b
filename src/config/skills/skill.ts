/** Skills and commands: texts that the model or the person starts. */

import { basename, dirname } from "node:path";

/** Whose it is: the person's, the project's, or a plug-in's. */
export type Origin = "person" | "project" | "plugin";

/**
 * The wishes of a role for its sub-agent. `tools`: the entries of `allowed-tools`, which narrow what it may do; undefined
 * where it has none. `model`, `effort`: as it writes them.
 */
export type Fork = { tools?: readonly string[]; model?: string; effort?: string };

/** A skill; without a `folder` a command. */
export type Skill = {
  name: string;
  /** One line; "" for a command that has none. */
  description: string;
  /** Its SKILL.md, or the command's file; absolute and real. */
  path: string;
  /** The folder of its files, real. */
  folder?: string;
  /** Paths of its files in the folder, where they were hashed. */
  files: readonly string[];
  /** The text after the frontmatter, with invisible characters shown. */
  text: string;
  /** True when the model is told of it, and may start it. */
  byModel: boolean;
  /** Hint at its argument, such as `[file]`. */
  argument?: string;
  /** True when it has `allowed-tools` that have no effect: it is no role. */
  asksForTools: boolean;
  /** Present for a role, `context: fork`: it is the instruction of a sub-agent. */
  fork?: Fork;
  /** Name for people of the folder that it was found in. */
  place: string;
  origin: Origin;
  /** SHA-256 over all its files, of one that is not the person's own. */
  hash?: string;
};

/** A folder to read. */
export type SkillPlace = {
  folder: string;
  kind: "skills" | "commands";
  /** Its name for people. */
  called: string;
  origin: Origin;
  /** Real folder that all of it must lie in, when it is not the person's own: then it is hashed. */
  inside?: string;
};

/** `notes`: those left out, and why. */
export type FoundSkills = { skills: Skill[]; notes: string[] };

/** Returns where a skill or command lies, for people. */
export function calledBy({ place, folder, path }: Skill): string {
  return `${place}/${basename(folder === undefined ? path : dirname(path))}`;
}
