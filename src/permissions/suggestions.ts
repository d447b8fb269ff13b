/** The narrowest rule that is still useful to let a call through. Pure. */

import type { CommandLine, SimpleCommand } from "./bash/scanner.ts";
import type { PermissionQuery } from "./decide.ts";
import { notFree, streams } from "./free.ts";
import { holdsSecret } from "./names.ts";
import { isInside, nameOf, parentOf, plain } from "./paths.ts";
import { allowsCommand, parseRule, type Rule } from "./rules.ts";

/**
 * These run the project's own code, which may do anything whatever follows: with more words they can do no more. The
 * last word is one of a kind: a script, a target, a file.
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
 * For a line that reads outside: the file's folder or the file. For one that runs the project's code: the beginning of
 * that command. Else the very line; undefined when no rule can be written.
 */
export function suggestCommand(one: PermissionQuery, command: string, line: CommandLine): string | undefined {
  const exact = command.trim();
  const narrow =
    line.problems.length === 0 ? (suggestReading(one, line) ?? suggestBeginning(one, line)) : undefined;
  if (narrow !== undefined) return narrow;
  return exact === "" || /[\n\r]|\*$/.test(exact) || exact.length > 200 ? undefined : `bash(${exact})`;
}

/** Offered only when the whole line is free with it. */
function suggestReading(one: PermissionQuery, { commands }: CommandLine): string | undefined {
  const reasons = commands.map((_, index) => notFree(one, commands, index));
  const paths = reasons.flatMap((reason) => (reason && "paths" in reason ? reason.paths : []));
  const [path] = paths;
  if (path === undefined || reasons.some((reason) => reason && !("paths" in reason))) return undefined;
  const [rule] = [suggestPaths("read", [path], one)].map(parseRule);
  if (!rule) return undefined;
  const allowed = { ...one, allow: [...one.allow, rule] };
  return commands.every((_, index) => notFree(allowed, commands, index) === undefined)
    ? rule.text
    : undefined;
}

/** Where all else of the line is free: it is only that command which is asked for. */
function suggestBeginning(one: PermissionQuery, { commands }: CommandLine): string | undefined {
  const asked = commands.filter((_, index) => notFree(one, commands, index) !== undefined);
  const [only, another] = asked;
  if (!only || another || !writesNothing(only)) return undefined;
  const words = only.words.map(plain);
  const text = beginning(words);
  const rule: Rule = { text: "", tool: "bash", pattern: `${text}:*` };
  return text !== undefined && allowsCommand(rule, words) ? `bash(${text}:*)` : undefined;
}

function writesNothing({ redirects }: SimpleCommand): boolean {
  return redirects.every(({ target }) => streams.test(target));
}

/** The words that name the project's own code. */
function beginning([name = "", ...rest]: string[]): string | undefined {
  if (/^\.\/[\w./+-]+$/.test(name) && !name.includes("..")) return name;
  const fits = ownCode.get(name);
  const count = [1, 2].find((words) => rest.length >= words && fits?.test(rest.slice(0, words).join(" ")));
  if (count === undefined || rest.slice(0, count).some((word) => word.startsWith("/") || word.includes("..")))
    return undefined;
  return [name, ...rest.slice(0, count)].join(" ");
}

/** A rule for one path, or for all of them; for a file to read that lies outside, its folder. */
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
  const isWide = [home, ...workspace].some((place) => isInside(place, folder));
  const isFile = /[^.]\.\w+$/.test(nameOf(path)) || /^\/etc\/[^/]+$/.test(path);
  return kind === "read" && isFile && !isWide && !holdsSecret(path)
    ? `read(${folder}/**)`
    : `${tool}(${path})`;
}
