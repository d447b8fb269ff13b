/** The skills of a session, and the lines by which the model knows of them. */

import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { readSkills, type Skill } from "../../config/skills.ts";
import { policyInputOf } from "../../context/policies/policy-input.ts";
import { textTokens } from "../../context/view/tokens.ts";
import { applyEvents } from "../../context/view/view.ts";
import type { LogEvent } from "../../core/events.ts";
import { enclosed } from "../../core/text/tags.ts";
import type { OpenOptions } from "../session.ts";

/** Share of the soft window that the lines may take. */
const share = 0.02;

/** Reads the person's own skills; none with `--bare`. `home`: real. `warn` gets a line for each that is none. */
export function personSkills(
  { flags, env }: Pick<OpenOptions, "flags" | "env">,
  home: string,
  warn: (note: string) => void = () => {},
): readonly Skill[] {
  if (flags.bare) return [];
  const { skills, notes } = readSkills([join(folders(env).config, "skills"), join(home, ".agents/skills")]);
  for (const note of notes) warn(note);
  return skills;
}

/** Returns the text that lists the skills that the model may start; undefined when there are none. */
export function skillsText(skills: readonly Skill[], events: readonly LogEvent[]): string | undefined {
  const listed = skills.filter(({ byModel }) => byModel);
  if (listed.length === 0) return undefined;
  let left = share * policyInputOf(events, applyEvents(events), 0).soft.tokens;
  const lines = listed.map(({ name, description, path }) => {
    const line = `- ${name}: ${description} (${path})`;
    left -= textTokens(line);
    return left >= 0 ? line : `- ${name} (${path})`;
  });
  return enclosed("skills", [head, ...lines].join("\n"));
}

const head =
  "Instructions of the person for kinds of work. Before work that a description fits, view the file named with it and follow it.";
