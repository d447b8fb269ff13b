/** Suggests the narrowest rule that would usefully allow a call. Pure. */

import { toolNames } from "../core/tool-calls.ts";
import type { CommandLine, SimpleCommand } from "./bash/scanner.ts";
import type { PermissionQuery } from "./decision.ts";
import { notFree, streams } from "./free.ts";
import { holdsSecret } from "./names.ts";
import { parseRule, type Rule } from "./parse-rule.ts";
import { isInside, nameOf, parentOf, plain } from "./paths.ts";
import { allowsCommand } from "./rules.ts";

/**
 * Commands that run the project's own code, which may do anything anyway: more words add no risk. The last word may
 * vary: a script, a target, a file.
 */
const ownCode = new Map(
  Object.entries({
    npm: /^(?:test|t|start|run \S+|run-script \S+)$/,
    pnpm: /^(?:test|run \S+)$/,
    yarn: /^(?:test|run \S+)$/,
    bun: /^(?:test|run \S+)$/,
    deno: /^(?:test|task \S+)$/,
    mise: /^run \S+$/,
    make: /^[\w.:-]+$/,
    just: /^[\w.:-]+$/,
    rake: /^[\w.:-]+$/,
    cargo: /^(?:test|build|check|run|bench|clippy)$/,
    go: /^(?:test|build|vet)$/,
    dotnet: /^(?:test|build)$/,
    mvn: /^(?:test|verify|compile)$/,
    gradle: /^(?:test|check|build)$/,
    node: /^[\w./@+-]+\.[cm]?[jt]s$/,
    tsx: /^[\w./@+-]+\.[cm]?[jt]sx?$/,
    python: /^(?:[\w./+-]+\.py|-m (?:pytest|unittest))$/,
    python3: /^(?:[\w./+-]+\.py|-m (?:pytest|unittest))$/,
    ruby: /^[\w./+-]+\.rb$/,
    php: /^[\w./+-]+\.php$/,
    git: /^(?:add|commit)$/,
  }),
);

/**
 * Suggests a rule for a command line. For a line that reads outside: the file's folder or the file. For one that runs
 * the project's code: the beginning of that command. Otherwise the exact line; undefined when no rule can be written.
 */
export function suggestCommand(
  query: PermissionQuery,
  command: string,
  line: CommandLine,
): string | undefined {
  const exact = command.trim();
  const narrow =
    line.problems.length === 0 ? (suggestReading(query, line) ?? suggestBeginning(query, line)) : undefined;
  if (narrow !== undefined) return narrow;
  return exact === "" || /[\n\r]|\*$/.test(exact) || exact.length > 200 ? undefined : `bash(${exact})`;
}

/** Suggests a rule for reading outside, only when the whole line needs no permission with it. */
function suggestReading(query: PermissionQuery, { commands }: CommandLine): string | undefined {
  const reasons = commands.map((_, index) => notFree(query, commands, index));
  const paths = reasons.flatMap((reason) => (reason && "paths" in reason ? reason.paths : []));
  const [path] = paths;
  if (path === undefined || reasons.some((reason) => reason && !("paths" in reason))) return undefined;
  const [rule] = [suggestPaths("read", [path], query)].map(parseRule);
  if (!rule) return undefined;
  const allowed = { ...query, allow: [...query.allow, rule] };
  return commands.every((_, index) => notFree(allowed, commands, index) === undefined)
    ? rule.text
    : undefined;
}

/** Suggests the beginning of the only command in the line that needs permission. */
function suggestBeginning(query: PermissionQuery, { commands }: CommandLine): string | undefined {
  const needing = commands.filter((_, index) => notFree(query, commands, index) !== undefined);
  const [only, another] = needing;
  if (!only || another || !writesNothing(only)) return undefined;
  const words = only.words.map(plain);
  const text = beginning(words);
  const rule: Rule = { text: "", tool: toolNames.bash, pattern: `${text}:*` };
  return text !== undefined && allowsCommand(rule, words) ? `bash(${text}:*)` : undefined;
}

function writesNothing({ redirects }: SimpleCommand): boolean {
  return redirects.every(({ target }) => streams.test(target));
}

/** Returns the words that identify the project's own code. */
function beginning([name = "", ...rest]: string[]): string | undefined {
  if (/^\.\/[\w./+-]+$/.test(name) && !name.includes("..")) return name;
  const fits = ownCode.get(name);
  const count = [1, 2].find((words) => rest.length >= words && fits?.test(rest.slice(0, words).join(" ")));
  if (count === undefined || rest.slice(0, count).some((word) => word.startsWith("/") || word.includes("..")))
    return undefined;
  return [name, ...rest.slice(0, count)].join(" ");
}

/** Suggests a rule for one path, or for all when there are several; for a file outside that is read, its folder. */
export function suggestPaths(
  kind: "read" | "write",
  paths: string[],
  { workspace, home }: PermissionQuery,
): string {
  const tool = kind === "read" ? "read" : "edit";
  const [path, another] = paths;
  if (path === undefined || another !== undefined) return tool;
  const root = workspace.find((folder) => isInside(path, folder) && folder !== path);
  if (root !== undefined) return `${tool}(${path.slice(root === "/" ? 1 : root.length + 1)})`;
  const folder = parentOf(path);
  const isWide = [home, ...workspace].some((base) => isInside(base, folder));
  const isFile = /[^.]\.\w+$/.test(nameOf(path)) || /^\/etc\/[^/]+$/.test(path);
  return kind === "read" && isFile && !isWide && !holdsSecret(path)
    ? `read(${folder}/**)`
    : `${tool}(${path})`;
}
