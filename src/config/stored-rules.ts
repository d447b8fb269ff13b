/**
 * Rules that outlive a session: the user's in the settings file, those for one folder in a file of their own beside it.
 * None of them lie in the folder itself: repository content is data, never configuration.
 */

import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { JsonSchema } from "../core/request.ts";
import { violations } from "../core/schema.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { replaceFile } from "../disk/replace-file.ts";
import { checkRule, contentOf, parsed, readSettings, SettingsError } from "./settings.ts";

/**
 * Returns the file with the rules for `root`, a real path: a folder that is moved or renamed has another one, or none.
 */
export function projectRulesFile(configFolder: string, root: string): string {
  const name = basename(root)
    .replace(/[^\w.-]/g, "_")
    .slice(0, 40);
  const hash = createHash("sha256").update(root).digest("hex").slice(0, 12);
  return join(configFolder, "projects", `${name || "root"}-${hash}.json`);
}

const schema: JsonSchema = {
  type: "object",
  properties: { folder: { type: "string" }, allow: { type: "array", items: { type: "string" } } },
  required: ["folder", "allow"],
  additionalProperties: false,
};

/** Returns the allow rules for `root`; none when there is no file. Throws `SettingsError`. */
export function readProjectRules(file: string, root: string): string[] {
  const content = contentOf(file);
  if (content === undefined) return [];
  const value = parsed(file, content);
  const [wrong] = violations(schema, value, "the value");
  if (wrong) throw new SettingsError(`${file}: ${wrong}: correct it or remove it`);
  const { folder, allow } = value as { folder: string; allow: string[] };
  if (folder !== root) throw new SettingsError(`${file} is for ${folder}, not for ${root}: remove it`);
  for (const rule of allow) checkRule(file, rule);
  return allow;
}

/** Makes `change` to the rules for `root`. Throws `SettingsError`; an invalid file is left as it is. */
export function changeProjectRules(file: string, root: string, change: (allow: string[]) => string[]): void {
  replace(file, { folder: root, allow: change(readProjectRules(file, root)) });
}

/** Makes `change` to the rules in the settings file and leaves the rest of it. Throws `SettingsError`. */
export function changeUserRules(
  file: string,
  kind: "allow" | "deny",
  change: (rules: string[]) => string[],
): void {
  const settings = readSettings(file);
  replace(file, { ...settings, [kind]: change(settings[kind] ?? []) });
}

/** Makes a model the one that sessions begin with, unless the settings name another. Throws `SettingsError`. */
export function rememberModel(file: string, model: string): void {
  const settings = readSettings(file);
  if (settings.model === undefined) replace(file, { ...settings, model });
}

/** Writes all or nothing. A settings file that is a link stays one. */
function replace(file: string, value: object): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  try {
    makeFolders(dirname(target), 0o700);
    replaceFile(target, `${JSON.stringify(value, undefined, 2)}\n`);
  } catch (error) {
    throw new SettingsError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}
