/** What `doctor` says of the rules that are kept for the folder it is run in. */

import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { projectRulesFile, readProjectRules } from "../../config/kept-rules.ts";
import { plural } from "../../context/report/amounts.ts";
import type { Check } from "./doctor.ts";

/** The rules for `cwd`'s workspace; a file that cannot be read stops no work: nothing is allowed by it. */
export function rulesCheck(env: Readonly<Record<string, string | undefined>>, cwd: string): Check {
  const root = workspaceRoot(cwd);
  const file = projectRulesFile(folders(env).config, root);
  try {
    const rules = readProjectRules(file, root);
    if (rules.length === 0) return { name: "rules", state: "ok", says: `none for ${root}` };
    return {
      name: "rules",
      state: "ok",
      says: `${plural(rules.length, "rule")} for ${root}: ${rules.join(", ")} (${file})`,
    };
  } catch (error) {
    return {
      name: "rules",
      state: "note",
      says: (error as Error).message,
      advice: "until then no rule for this folder counts",
    };
  }
}
