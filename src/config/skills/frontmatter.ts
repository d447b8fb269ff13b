/** Reads the frontmatter of skills and commands, and judges that of a skill as the standard does (agentskills.io). */

import { parse } from "yaml";
import { cleanLine } from "../../core/text/clean-text.ts";

/** The fields of a frontmatter, and the text after it. */
export type Parsed = { fields: Readonly<Record<string, unknown>>; body: string };

const frontmatter = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/;

/** Returns the fields, none where there is no frontmatter; or what is wrong with it, as the rest of a sentence. */
export function parsedText(whole: string): Parsed | string {
  const text = whole.replace(/^\ufeff/, "").replace(/\r\n/g, "\n");
  const [all = "", head = ""] = frontmatter.exec(text) ?? [];
  const body = text.slice(all.length).trim();
  try {
    const fields: unknown = parse(withHint(head), { logLevel: "error" }) ?? {};
    if (typeof fields !== "object" || fields === null || Array.isArray(fields))
      return "its frontmatter holds no fields";
    return { fields: fields as Record<string, unknown>, body };
  } catch (error) {
    const [line = ""] = String((error as Error).message).split("\n");
    return `its frontmatter is not YAML: ${cleanLine(line).slice(0, 120)}`;
  }
}

/** Quotes a hint such as `[file] [more]`, which people write as it is and YAML does not take. */
function withHint(head: string): string {
  return head.replace(/^(argument-hint):[ \t]*(\[.*)$/m, (_, key, hint) => `${key}: ${JSON.stringify(hint)}`);
}

/** Returns true when the text begins as a frontmatter does, and has an end of it. */
export function hasFrontmatter(whole: string): boolean {
  return frontmatter.test(whole.replace(/^\ufeff/, "").replace(/\r\n/g, "\n"));
}

/** Returns a field as text; "" where there is none. */
export function textOf({ fields }: Parsed, name: string): string {
  const value = fields[name];
  return value === undefined || value === null ? "" : String(value);
}

/** Returns the name of a skill as it is compared: normalized, without space around it. */
export function skillName(parsed: Parsed): string {
  return textOf(parsed, "name").trim().normalize("NFKC");
}

/** Returns why this is no skill of the standard, as the rest of a sentence. `folder`: the name of its folder. */
export function skillProblem(parsed: Parsed, folder: string): string | undefined {
  const name = skillName(parsed);
  if (!/^[\p{L}\p{M}\p{Nd}]+(-[\p{L}\p{M}\p{Nd}]+)*$/u.test(name) || name.length > 64)
    return "its name must be 1 to 64 of letters, digits and single hyphens";
  if (name !== name.toLowerCase()) return "its name must be in lower case";
  if (name !== folder.normalize("NFKC"))
    return `its name is ${cleanLine(name)}, but its folder has another name`;
  const description = textOf(parsed, "description");
  if (description.trim() === "" || description.length > 1024)
    return "its description must have 1 to 1,024 characters";
  const { compatibility } = parsed.fields;
  if (compatibility !== undefined && (typeof compatibility !== "string" || compatibility.length > 500))
    return "its compatibility must be a text of up to 500 characters";
  return undefined;
}
