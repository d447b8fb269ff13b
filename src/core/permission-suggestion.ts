/** The narrowest rule that is still useful to let a call through. Pure. */

import { isInside, parentOf, plain } from "./permission-path.ts";
import { allowsCommand, type Rule } from "./permission-rule.ts";
import type { CommandLine } from "./permission-scan.ts";

const withSubcommand =
  /^(?:git|npm|npx|pnpm|yarn|bun|deno|cargo|go|docker|podman|kubectl|make|pip3?|uv|poetry|dotnet|gradle|mvn|bundle|rails|gh|node|tsx|python3?|ruby|perl|php)$/;
/** A rule for everything such a program can do would allow too much. */
const onlyExact =
  /^(?:rm|mv|dd|chmod|chown|shred|truncate|tee|sudo|doas|env|xargs|eval|exec|source|\.|find|sed|awk|curl|wget|ssh|(?:ba|da|z|k)?sh|nohup|timeout|command)$/;

/** A rule for the beginning of a single plain command, else for the very line; undefined when neither can be written. */
export function suggestCommand(command: string, { commands, problems }: CommandLine): string | undefined {
  const exact = command.trim();
  const [only, another] = commands;
  if (problems.length === 0 && only && !another && only.redirects.length === 0) {
    const words = only.words.map(plain);
    const text = beginning(words)?.join(" ");
    const rule: Rule = { text: "", tool: "bash", pattern: `${text}:*` };
    if (text && allowsCommand(rule, words)) return `bash(${text}:*)`;
  }
  return exact === "" || /[\n\r]|\*$/.test(exact) || exact.length > 200 ? undefined : `bash(${exact})`;
}

function beginning(words: string[]): string[] | undefined {
  const [name = "", second = "", third = ""] = words;
  if (onlyExact.test(name)) return undefined;
  const count = !withSubcommand.test(name) ? 1 : second === "run" || (second === "-m" && third) ? 3 : 2;
  const taken = words.slice(0, count);
  const readable = taken.every(
    (word, index) => /^[\w./:@=+-]+$/.test(word) && (index === 0 || word === "-m" || !word.startsWith("-")),
  );
  return readable && taken.length === count ? taken : undefined;
}

/** A rule for one path, or for all of them. */
export function suggestPaths(kind: "read" | "write", paths: string[], workspace: string[]): string {
  const tool = kind === "read" ? "read" : "edit";
  const [path, another] = paths;
  if (path === undefined || another !== undefined) return tool;
  const root = workspace.find((folder) => isInside(path, folder) && folder !== path);
  if (root !== undefined) return `${tool}(${path.slice(root === "/" ? 1 : root.length + 1)})`;
  const folder = parentOf(path);
  return kind === "read" && folder !== "/" ? `read(${folder}/**)` : `${tool}(${path})`;
}
